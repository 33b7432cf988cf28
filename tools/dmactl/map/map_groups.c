// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Groups the parts of a map: one for each owner with much memory, one for all other
 * owners, and one for each kind of memory without an owner.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "map.h"
#include "base/words.h"

/* A part with an owner, for sorting. */
struct owned {
	const struct dray_buffer_info *info;
	uint32_t part;
};

/* Parts of one owner, in sorted order. */
struct owner {
	size_t first;
	size_t count;
	uint64_t bytes;
};

static enum map_kind groups_kind_of(const struct map *map, size_t part)
{
	switch (map->parts[part].state) {
	case DRAY_PART_FREE:
		return MAP_FREE;
	case DRAY_PART_BUFFER:
		if (!map->parts[part].id)
			return MAP_OTHERS;
		return map->infos[part].id ? MAP_OWNER : MAP_ENDED;
	case DRAY_PART_HELD:
		return MAP_HELD;
	case DRAY_PART_QUARANTINED:
		return MAP_QUARANTINED;
	case DRAY_PART_CONDEMNED:
		return MAP_CONDEMNED;
	case DRAY_PART_SYSTEM:
		return MAP_SYSTEM;
	}
	return MAP_UNKNOWN;
}

/* The classes of --by age: up to so many seconds. */
static const struct {
	uint64_t seconds;
	const char *label;
} ages[] = {
	{ 1, "younger than 1s" },
	{ 60, "1s to 1m" },
	{ 3600, "1m to 1h" },
	{ 86400, "1h to 1d" },
	{ UINT64_MAX, "older than 1d" },
};

static unsigned int age_class(const struct dray_buffer_info *info)
{
	unsigned int i = 0;

	while (info->age_ns / 1000000000 >= ages[i].seconds)
		i++;
	return i;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_users(const void *a, const void *b)
{
	const struct dray_buffer_info *first = ((const struct owned *)a)->info;
	const struct dray_buffer_info *second = ((const struct owned *)b)->info;

	return COMPARE(first->uid, second->uid);
}

static int compare_ages(const void *a, const void *b)
{
	return COMPARE(age_class(((const struct owned *)a)->info),
		       age_class(((const struct owned *)b)->info));
}

static int compare_states(const void *a, const void *b)
{
	(void)a;
	(void)b;
	return 0;
}

/* A process that ended may have had the pid of one that lives. */
static int compare_processes(const void *a, const void *b)
{
	const struct dray_buffer_info *first = ((const struct owned *)a)->info;
	const struct dray_buffer_info *second = ((const struct owned *)b)->info;
	int order = COMPARE(first->pid, second->pid);

	if (!order)
		order = COMPARE(first->flags & DRAY_BUFFER_ORPHAN,
				second->flags & DRAY_BUFFER_ORPHAN);
	if (!order)
		order = memcmp(first->comm, second->comm, sizeof(first->comm));
	return order ? order : compare_users(a, b);
}

static int (*const compare_by[])(const void *a, const void *b) = {
	[MAP_BY_OWNER] = compare_processes,
	[MAP_BY_USER] = compare_users,
	[MAP_BY_STATE] = compare_states,
	[MAP_BY_AGE] = compare_ages,
};

/* The largest first. */
static int compare_owners(const void *a, const void *b)
{
	const struct owner *first = a;
	const struct owner *second = b;
	int order = COMPARE(second->bytes, first->bytes);

	return order ? order : COMPARE(first->first, second->first);
}

static char *owner_label(const struct map *map,
			 const struct dray_buffer_info *info)
{
	char *user = user_word(info->uid);
	char *safe = escape(user, strlen(user), ESCAPE_WORD);
	char *comm = escape(info->comm, sizeof(info->comm), ESCAPE_WORD);
	char *label = NULL;

	switch (map->by) {
	case MAP_BY_OWNER:
		if (info->flags & DRAY_BUFFER_ORPHAN)
			label = text_format("%s gone %s", comm, safe);
		else if (info->pid)
			label = text_format("%s %" PRId32 " %s", comm,
					    info->pid, safe);
		else
			label = text_format("%s - %s", comm, safe);
		break;
	case MAP_BY_USER:
		label = text_format("%s", safe);
		break;
	case MAP_BY_STATE:
		label = text_format("buffers");
		break;
	case MAP_BY_AGE:
		label = text_format("%s", ages[age_class(info)].label);
		break;
	}
	free(comm);
	free(safe);
	free(user);
	return label;
}

static char *kind_label(const struct map_group *group)
{
	static const char *const labels[MAP_KINDS] = {
		[MAP_OTHERS] = "others",       [MAP_ENDED] = "freed meanwhile",
		[MAP_HELD] = "held",	       [MAP_QUARANTINED] = "quarantine",
		[MAP_CONDEMNED] = "condemned", [MAP_SYSTEM] = "system, or free",
		[MAP_UNKNOWN] = "unknown",     [MAP_FREE] = "free",
	};

	if (group->kind == MAP_MORE)
		return text_format("%zu more owners", group->owners);
	return text_format("%s", labels[group->kind]);
}

static struct map_group *add_group(struct map *map, enum map_kind kind)
{
	struct map_group *group = &map->groups[map->group_count++];

	*group = (struct map_group){ .kind = kind };
	return group;
}

static void groups_add_part(struct map *map, struct map_group *group,
			    size_t part)
{
	group->bytes += map->parts[part].length;
	group->parts++;
	map->group_of[part] = (uint32_t)(group - map->groups);
}

/* Sorts the parts with owners, and returns the owners. */
static struct owner *find_owners(const struct map *map, struct owned *owned,
				 size_t count, size_t *owner_count)
{
	struct owner *owners = memory_resize(NULL, count, sizeof(*owners));
	int (*compare)(const void *, const void *) = compare_by[map->by];
	size_t i;

	*owner_count = 0;
	if (count)
		qsort(owned, count, sizeof(*owned), compare);
	for (i = 0; i < count; i++) {
		if (!i || compare(&owned[i - 1], &owned[i]))
			owners[(*owner_count)++] = (struct owner){ .first = i };
		owners[*owner_count - 1].count++;
		owners[*owner_count - 1].bytes +=
			map->parts[owned[i].part].length;
	}
	/* ages stay in their order */
	if (map->by != MAP_BY_AGE && *owner_count)
		qsort(owners, *owner_count, sizeof(*owners), compare_owners);
	return owners;
}

static void group_owners(struct map *map, struct owned *owned, size_t count)
{
	size_t owner_count, i, j;
	struct owner *owners = find_owners(map, owned, count, &owner_count);
	struct map_group *group = NULL;

	for (i = 0; i < owner_count; i++) {
		const struct owner *owner = &owners[i];

		if (i < MAP_HUES) {
			group = add_group(map, MAP_OWNER);
			group->hue = (unsigned int)i;
			group->info = owned[owner->first].info;
		} else if (i == MAP_HUES) {
			group = add_group(map, MAP_MORE);
			group->owners = owner_count - MAP_HUES;
		}
		for (j = 0; j < owner->count; j++)
			groups_add_part(map, group,
					owned[owner->first + j].part);
	}
	free(owners);
}

/* Groups the parts of a kind without owners. */
static void group_kind(struct map *map, enum map_kind kind)
{
	struct map_group *group = NULL;
	size_t i;

	for (i = 0; i < map->count; i++) {
		if (groups_kind_of(map, i) != kind)
			continue;
		if (!group)
			group = add_group(map, kind);
		groups_add_part(map, group, i);
	}
}

void map_form_groups(struct map *map)
{
	struct owned *owned = memory_resize(NULL, map->count, sizeof(*owned));
	enum map_kind kind;
	size_t count = 0, i;

	map->group_of = memory_new(map->count, sizeof(*map->group_of));
	map->groups = memory_new(MAP_HUES + MAP_KINDS, sizeof(*map->groups));
	for (i = 0; i < map->count; i++)
		if (groups_kind_of(map, i) == MAP_OWNER)
			owned[count++] = (struct owned){
				.info = &map->infos[i],
				.part = (uint32_t)i,
			};
	group_owners(map, owned, count);
	free(owned);
	for (kind = MAP_OTHERS; kind < MAP_KINDS; kind++)
		group_kind(map, kind);
	for (i = 0; i < map->group_count; i++) {
		struct map_group *group = &map->groups[i];

		group->label = group->info ? owner_label(map, group->info)
					   : kind_label(group);
	}
}

bool map_hides(const struct map *map)
{
	size_t i;

	for (i = 0; i < map->group_count; i++)
		if (map->groups[i].kind == MAP_OTHERS)
			return true;
	return false;
}
