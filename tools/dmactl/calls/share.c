// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl share: a record of a buffer in a file, which leads other processes to
 * its memory: dray_array_open() in C, dray.open_array() in Python.  A keeper
 * serves it, since records end with the process that made them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dray/record.h>

#include "base/document.h"
#include "keeper.h"
#include "reach.h"
#include "elements.h"

static const struct command_option read_only_option = {
	.name = "read-only",
	.text = "others can never write it",
};

static const struct command_option any_user_option = {
	.name = "any-user",
	.text = "to every user; otherwise to your own processes",
};

struct offer {
	struct part part;
	struct elements elements;
	uint32_t flags; /* DRAY_IPC_* */
};

/* The report of a keeper. */
struct shared {
	uint64_t id;
	uint64_t bytes;
	int pid;
};

static bool read_offer(const struct request *request, struct offer *offer)
{
	*offer = (struct offer){ 0 };
	if (option_value(request, &read_only_option))
		offer->flags |= DRAY_IPC_READ_ONLY;
	if (option_value(request, &any_user_option))
		offer->flags |= DRAY_IPC_ANY_USER;
	return reach_parse(operand_at(request, 0)) &&
	       part_given(request, &offer->part) &&
	       elements_given(request, &offer->elements);
}

/* The file of a record, by its path from the root, and as the kernel knows it. */
struct record_file {
	char *path;
	struct stat status;
};

/* Writes the record to a new file, which belongs to this user alone. */
static bool write_record(struct record_file *file, const void *record,
			 size_t size, uint32_t flags)
{
	mode_t mode = flags & DRAY_IPC_ANY_USER ? 0644 : 0600;
	int fd =
		open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0) {
		complain("cannot make '%s': %s", file->path, strerror(errno));
		return false;
	}
	if (write(fd, record, size) == (ssize_t)size &&
	    !fstat(fd, &file->status) && !close(fd))
		return true;
	complain("cannot write '%s': %s", file->path, strerror(errno));
	unlink(file->path);
	return false;
}

/* Removes the file, but not another file that is at its path by now. */
static void remove_record(const struct record_file *file)
{
	struct stat now;

	if (!lstat(file->path, &now) && now.st_dev == file->status.st_dev &&
	    now.st_ino == file->status.st_ino)
		unlink(file->path);
}

/* Makes the record of a buffer that was reached, and its file. */
static bool share_export(const struct reached *reached, struct offer *offer,
			 struct record_file *file, struct shared *shared)
{
	unsigned char record[DRAY_VIEW_RECORD_SIZE];
	struct dray_view view;
	size_t size;

	if (!part_fit(reached, &offer->part) ||
	    !elements_view(&offer->elements, reached, &offer->part, &view))
		return false;
	if (dray_view_export(&view, offer->flags, record, sizeof(record),
			     &size)) {
		complain("cannot share buffer %" PRIu64 ": %s",
			 (uint64_t)reached->info.id, dray_last_error());
		return false;
	}
	*shared = (struct shared){
		.id = reached->info.id,
		.bytes = (uint64_t)dray_view_size(&view) *
			 dray_dtype_itemsize(view.dtype),
		.pid = (int)getpid(),
	};
	return write_record(file, record, size, offer->flags);
}

/* Returns the path from the root, for free(). */
static char *whole_path(const char *path)
{
	char *folder = *path == '/' ? NULL : getcwd(NULL, 0);
	char *whole = folder ? text_format("%s/%s", folder, path)
			     : text_format("%s", path);

	free(folder);
	return whole;
}

/* In the keeper: serves until a signal, then removes the file. */
static bool share_serve(const struct keeper *keeper,
			const struct request *request, struct offer *offer)
{
	/* the keeper leaves the working directory */
	struct record_file file = {
		.path = whole_path(operand_at(request, 1)),
	};
	struct open_nodes nodes;
	struct reached reached;
	struct shared shared;
	bool fine = reach_operand(request, &nodes, &reached) == EXIT_FINE;

	if (fine) {
		fine = share_export(&reached, offer, &file, &shared);
		if (fine) {
			if (keeper_report(keeper, &shared, sizeof(shared)))
				keeper_wait();
			remove_record(&file);
		}
		reach_close(&nodes, &reached);
	}
	free(file.path);
	return fine;
}

static void print_shared(const struct request *request,
			 const struct shared *shared, const char *path)
{
	json_t *root;

	if (!request->json)
		return;
	root = json_object();
	document_number(root, "id", shared->id);
	document_text(root, "path", path, strlen(path));
	document_number(root, "size", shared->bytes);
	document_number(root, "pid", (uint64_t)shared->pid);
	document_print(root);
}

static enum exit_code share_run(const struct request *request)
{
	const char *word = operand_at(request, 0);
	struct keeper keeper;
	struct shared shared;
	struct offer offer;
	int inherited;

	if (!read_offer(request, &offer))
		return EXIT_USAGE;
	inherited = *word == '@' ? atoi(word + 1) : -1;
	if (!keeper_start(&keeper, inherited))
		return EXIT_FAILED;
	if (!keeper.pid)
		_exit(share_serve(&keeper, request, &offer) ? EXIT_FINE
							    : EXIT_FAILED);
	if (!keeper_read(&keeper, &shared, sizeof(shared)))
		return EXIT_FAILED;
	elements_drop(&offer.elements);
	print_shared(request, &shared, operand_at(request, 1));
	return keeper_settle(&keeper) ? EXIT_FINE : EXIT_FAILED;
}

static const char description[] =
	"Writes a record to the new file PATH, which leads other processes to the\n"
	"same memory: dray_array_open() in C, dray.open_array() in Python.  A\n"
	"process in the background, named dmactl-keep, answers them until 'dmactl\n"
	"free ID' ends it and removes the file.  The record is a secret.\n"
	"\n"
	"  ID    the number in the first column of 'dmactl list', or @N for the\n"
	"        descriptor N that dmactl inherits\n"
	"  PATH  a file that does not exist\n"
	"\n"
	"Without --read-only others can write the whole buffer, not only the part\n"
	"that the record names.\n";

static const struct command_option *const options[] = {
	&home_node_option, &offset_option, &length_option,
	&dtype_option,	   &shape_option,  &read_only_option,
	&any_user_option,  &json_option,   NULL,
};

const struct command share_command = {
	.name = "share",
	.operands = "ID PATH",
	.operands_least = 2,
	.operands_most = 2,
	.offers = "id",
	.options = options,
	.summary = "lets other processes open a buffer",
	.description = description,
	.run = share_run,
};
