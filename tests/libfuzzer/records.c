// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records of memory and of arrays, and the messages behind them: the first byte
 * chooses the kind of bytes, which a program of the same user may have written.
 * Opened memory lies in the exported memory, and a record for reading is never
 * writable.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzzer.h"
#include "ipc/ipc.h"

#define MEMORY 8192u
#define FAKE_BROKER 0x6472617966757a7aull /* of no process */

/* Memory of this process, and its records: for writing, for reading only. */
static struct dray_array *shared[2];
static struct dray_ipc_fields known[2];
static int file, short_file, pipes[2]; /* these may come with an answer */

/* The exporter of FAKE_BROKER, a thread that answers with these bytes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t said[sizeof(struct dray_ipc_answer) + 2];
static size_t said_size;

/* Sends bytes, and copies of a descriptor. */
static void send_with(int socket, struct input *bytes, size_t most, int fd,
		      int copies)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes->at,
			      bytes->left < most ? bytes->left : most };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int i;

	if (copies) {
		message.msg_control = control.bytes;
		message.msg_controllen =
			CMSG_SPACE((size_t)copies * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len =
			CMSG_LEN((size_t)copies * sizeof(int));
	}
	for (i = 0; i < copies; i++)
		memcpy(CMSG_DATA(&control.header) + (size_t)i * sizeof(int),
		       &fd, sizeof(fd));
	if (sendmsg(socket, &message, MSG_NOSIGNAL) > 0) {
		bytes->at += part.iov_len;
		bytes->left -= part.iov_len;
	}
}

/* Sends a descriptor that the input chooses, or several, or none. */
static void send_chosen(int socket, struct input *bytes, size_t most)
{
	const int fds[] = { file, file, file, short_file, pipes[0] };
	int fd = fds[input_below(bytes, 5)], copies = input_below(bytes, 8);

	send_with(socket, bytes, most, fd, copies > 3 ? 1 : copies);
}

static int new_socket(uint64_t broker, struct sockaddr_un *address,
		      socklen_t *length)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	holds(fd >= 0);
	*length = dray_ipc_address(broker, address);
	return fd;
}

static void *answer(void *listener)
{
	char question[256];
	struct input bytes;
	int fd;

	/* libFuzzer's alarm may interrupt this thread. */
	while ((fd = (int)TEMP_FAILURE_RETRY(accept4(
			(int)(intptr_t)listener, NULL, NULL, SOCK_CLOEXEC))) >=
	       0) {
		/* It asks again if this process seems to be at its limit. */
		if (recv(fd, question, sizeof(question), 0) > 0) {
			pthread_mutex_lock(&lock);
			bytes = (struct input){ said, said_size };
			send_chosen(fd, &bytes, sizeof(struct dray_ipc_answer));
			pthread_mutex_unlock(&lock);
		}
		close(fd);
	}
	return NULL;
}

static void start_exporter(void)
{
	struct sockaddr_un address;
	socklen_t length;
	pthread_t thread;
	int fd =
		new_socket(FAKE_BROKER + (uint64_t)getpid(), &address, &length);

	holds(!bind(fd, (struct sockaddr *)&address, length));
	holds(!listen(fd, 8));
	holds(!pthread_create(&thread, NULL, answer, (void *)(intptr_t)fd));
	pthread_detach(thread);
}

static void start(void)
{
	static const uint32_t flags[] = { 0, DRAY_IPC_READ_ONLY };
	const int64_t shape = MEMORY;
	struct dray_ipc_record record;
	struct dray_node *node;
	int i;

	holds(!dray_node_open("host:shareable", &node));
	for (i = 0; i < 2; i++) {
		holds(!dray_array_create_alone(node, DRAY_UINT8, 1, &shape,
					       &shared[i]));
		holds(!dray_ipc_export(shared[i]->data, MEMORY, flags[i],
				       &record));
		memcpy(&known[i], &record, sizeof(record));
	}
	file = memfd_create("fuzzer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	short_file = memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	holds(file >= 0 && short_file >= 0 && !pipe(pipes));
	holds(!ftruncate(file, MEMORY) && !ftruncate(short_file, 100));
	holds(!fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK));
	start_exporter();
}

/* Checks an array over the @size bytes at @memory. */
static void check_array(const struct dray_array *array, const void *memory,
			size_t size)
{
	const char *data = array->data, *start = memory;
	struct dray_view view;
	int64_t low, high;
	FILE *nowhere;

	dray_array_view(array, &view);
	dray_view_span(&view, &low, &high);
	holds(low == high ||
	      (data + low >= start && data + high <= start + size));
	if (view.ndim > 4) /* Six elements of each axis are printed. */
		return;
	nowhere = fopen("/dev/null", "we");
	holds(nowhere);
	dray_view_print(&view, nowhere);
	fclose(nowhere);
}

/* Puts a true secret into a record; @lie: how much of the rest stays. */
static void make_known(int which, int lie, struct dray_ipc_fields *fields)
{
	struct dray_ipc_fields asked = *fields;

	*fields = known[which];
	if (lie > 5) {
		fields->offset = asked.offset;
		fields->size = asked.size;
	}
	if (lie == 7)
		fields->flags = asked.flags;
}

/* Opens a record of an array of this process, and copies its bytes. */
static void open_array(struct input *input)
{
	int which = input_below(input, 2), lie = input_below(input, 8);
	bool asks = !input_below(input, 4);
	size_t size = input->left;
	unsigned char *record = malloc(size + 1);
	static char copy[MEMORY];
	struct dray_ipc_fields fields;
	struct dray_array *array;
	struct dray_view view;
	uint64_t needed;

	holds(record);
	if (size)
		memcpy(record, input->at, size);
	if (size >= sizeof(fields)) {
		memcpy(&fields, record, sizeof(fields));
		make_known(which, lie, &fields);
		memcpy(record, &fields, sizeof(fields));
	}
	if (!dray_array_open(record, size, NULL, &array)) {
		holds(!which || !(array->flags & DRAY_WRITE));
		check_array(array, shared[which]->data, MEMORY);
		dray_array_unref(array);
	}
	if (asks &&
	    !dray_view_fetch(record, size, copy, sizeof(copy), &needed, &view))
		dray_dtype_unref(view.dtype);
	free(record);
}

/* Receives bytes that came over a socket. */
static void receive_array(struct input *input)
{
	struct dray_array *array;
	int ends[2];

	holds(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	send_chosen(ends[0], input, DRAY_VIEW_RECORD_SIZE + 1);
	close(ends[0]);
	if (!dray_array_receive(ends[1], NULL, &array)) {
		check_array(array, dray_block_data(array->reference),
			    dray_block_size(array->reference));
		dray_array_unref(array);
	}
	close(ends[1]);
}

/* Asks the broker of this process, and says more after its answer. */
static void ask_broker(struct input *input)
{
	char answer[2 * sizeof(struct dray_ipc_answer)];
	struct dray_ipc_question question = { .copies = 0 };
	struct input bytes = { (const uint8_t *)&question, sizeof(question) };
	struct sockaddr_un address;
	socklen_t length;
	size_t part;
	int which, lie;
	int fd = new_socket(known[0].broker, &address, &length);

	holds(!connect(fd, (struct sockaddr *)&address, length));
	if (input_below(input, 4)) {
		which = input_below(input, 2);
		lie = input_below(input, 8);
		bytes.left -= input_below(input, 2) ? sizeof(uint64_t) : 0;
		part = input->left < bytes.left ? input->left : bytes.left;
		if (part)
			memcpy(&question, input->at, part);
		make_known(which, lie, &question.fields);
	} else {
		bytes = *input;
	}
	if (bytes.left) {
		send_with(fd, &bytes, 200, file, input_below(input, 2));
		recv(fd, answer, sizeof(answer), 0);
		if (input->left)
			send_with(fd, input, 1 + (size_t)input_below(input, 2),
				  file, 0);
	}
	close(fd);
}

/* Opens a record of the exporter that answers with the input's bytes. */
static void open_elsewhere(struct input *input)
{
	struct dray_ipc_record record;
	struct dray_ipc_memory *memory;
	struct dray_ipc_fields fields = known[0];
	bool copies = input_below(input, 4) == 3;
	static char copy[MEMORY];
	uint64_t size;

	fields.broker = FAKE_BROKER + (uint64_t)getpid();
	fields.flags = input_below(input, 2) ? DRAY_IPC_READ_ONLY : 0;
	fields.secret[0] = input_number(input, 1);
	fields.offset = input_number(input, 2);
	fields.size = input_number(input, 2);
	memcpy(&record, &fields, sizeof(record));
	pthread_mutex_lock(&lock);
	said_size = input->left < sizeof(said) ? input->left : sizeof(said);
	if (said_size)
		memcpy(said, input->at, said_size);
	pthread_mutex_unlock(&lock);
	if (copies && fields.size <= sizeof(copy)) {
		dray_ipc_copy(&record, copy, sizeof(copy), &size);
	} else if (!dray_ipc_open(&record, NULL, &memory)) {
		holds(dray_ipc_size(memory) == fields.size);
		holds(!(fields.flags & DRAY_IPC_READ_ONLY) ||
		      !dray_ipc_writable(memory));
		dray_ipc_close(memory);
	}
}

/* Opens bytes as they are; libFuzzer has seen the secret, and may try it. */
static void open_raw(struct input *input)
{
	struct dray_ipc_record record = { .bytes = { 0 } };
	struct dray_ipc_memory *memory;
	struct dray_array *array;

	if (!dray_array_open(input->at, input->left, NULL, &array))
		dray_array_unref(array);
	if (input->left)
		memcpy(&record, input->at,
		       input->left < sizeof(record) ? input->left
						    : sizeof(record));
	if (!dray_ipc_open(&record, NULL, &memory))
		dray_ipc_close(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const ways[])(struct input * input) = {
		open_array, open_array,	    open_array, receive_array,
		ask_broker, open_elsewhere, open_raw,
	};
	struct input input = { data, size };

	if (!shared[0])
		start();
	ways[input_below(&input, sizeof(ways) / sizeof(ways[0]))](&input);
	return 0;
}
