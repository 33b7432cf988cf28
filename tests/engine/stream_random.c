// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Random calls on all streams of a node, by processes that are killed, beside an
 * engine whose knobs turn, and drivers that are unbound.  DRAY_TEST_SECONDS bounds
 * the time, DRAY_TEST_SEED repeats the choices of a run; its order between processes
 * is another one each time.
 *
 * A run is a row of scenes.  Each has its own seed, its own knobs and moods, and an
 * end in peace: then each point has come, each packet was whole, in order and not
 * lost, or a status said so, no byte beside it was written, and no memory is held.
 */
#include "streams.h"
#include "random.h"

#define WORKERS 3
#define SCENE_NS (2 * SECOND)

/* What disturbs a scene, one bit each. */
enum {
	TURNS_KNOBS = 1,
	KILLS = 2,
	UNBINDS = 4,
	SLEEPS = 8,
	JAMS = 16, /* engines that do not stop */
	KINDS = 32,
};

struct scene {
	struct random_stage *stage;
	struct binding *binding;
	uint64_t state;
	uint32_t disturbs;
	bool early; /* reports without a byte, but none late or lost */
	pid_t children[WORKERS]; /* 0: none */
};

static const struct {
	const char *name;
	uint32_t below; /* values */
} knobs[] = {
	{ "stall", 16 },   { "fail", 16 },	{ "lose", 16 },
	{ "late_ms", 30 }, { "split", 5000 },	{ "join", 4 },
	{ "slots", 40 },   { "unfinished", 2 }, { "hold", 16 },
};

/* May the scene turn it? */
static bool scene_has_knob(const struct scene *scene, const char *name)
{
	if (!strcmp(name, "split"))
		return scene->stage->splits;
	if (!strcmp(name, "join"))
		return scene->stage->joins;
	if (!strcmp(name, "unfinished"))
		return scene->early;
	/* Without its report, a descriptor's status only says "complete". */
	if (!strcmp(name, "lose") || !strcmp(name, "late_ms"))
		return !scene->early && stream_has(name);
	return stream_has(name);
}

static int scene_turn_knob(struct scene *scene)
{
	size_t i = pick(&scene->state, ARRAY_SIZE(knobs));
	uint32_t value = pick(&scene->state, knobs[i].below);

	if (!scene_has_knob(scene, knobs[i].name))
		return 0;
	/* Ends of packets are ends of words. */
	if (!strcmp(knobs[i].name, "split"))
		value = (value + 256) / RANDOM_WORD * RANDOM_WORD;
	return stream_knob(knobs[i].name, value);
}

/* All but "empty", which would drop packets. */
static int scene_calm(void)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(knobs) && !ret; i++)
		if (stream_has(knobs[i].name))
			ret = stream_knob(
				knobs[i].name,
				strcmp(knobs[i].name, "slots") ? 0 : 65536);
	return ret ? ret : stream_knob("stubborn", 0);
}

/* Calls that stop the engine would wait for it. */
static int scene_let_stop(void)
{
	return stream_has("hold") ? stream_knob("hold", 0) : 0;
}

static int scene_jam(struct scene *scene)
{
	uint32_t bits = pick(&scene->state, 16);
	int ret = stream_knob("stubborn", pick(&scene->state, 3) ? 0 : bits);

	if (!ret && !pick(&scene->state, 4))
		ret = write_text("/sys/class/misc/dray0/reopen", "1");
	return ret == -ENOENT ? 0 : ret;
}

static int scene_start(struct scene *scene, int i)
{
	static struct random_worker workers[WORKERS];

	workers[i] = (struct random_worker){
		.stage = scene->stage,
		.seed = next_random(&scene->state),
	};
	scene->children[i] = process_start(worker_main, &workers[i]);
	return scene->children[i] < 0 ? -EAGAIN : 0;
}

static int scene_kill(struct scene *scene)
{
	int i = (int)pick(&scene->state, WORKERS), ret;

	kill(scene->children[i], SIGKILL);
	if (scene_let_stop())
		return -EINVAL;
	ret = process_wait(scene->children[i]);
	scene->children[i] = 0;
	if (ret != -SIGKILL && ret)
		return FAULT("a process ended with %d", ret);
	return scene_start(scene, i);
}

/* The engine takes the node with it; an engine that jams would keep the module. */
static int scene_unbind(struct scene *scene)
{
	const struct binding *binding = scene->binding;
	bool engine = pick(&scene->state, 2);
	int ret = scene_calm();

	if (!ret)
		ret = engine ? write_name(STREAM_DRIVER, "unbind",
					  STREAM_ENGINE)
			     : binding_unbind(binding);
	if (ret)
		return ret;
	usleep(pick(&scene->state, 20000));
	if (engine)
		ret = write_name(STREAM_DRIVER, "bind", STREAM_ENGINE);
	/* A tree's link between both binds the node too. */
	if (!ret && node_is_gone(NULL))
		write_name(binding->driver, "bind", binding->device);
	return ret || wait_for(node_answers, NULL) ? ret : -ETIME;
}

static int scene_sleep(struct scene *scene)
{
	int ret = scene_let_stop();

	if (!ret)
		ret = write_text(STREAM_ASLEEP, "1");
	usleep(pick(&scene->state, 20000));
	return ret ? ret : write_text(STREAM_ASLEEP, "0");
}

static int scene_disturb(struct scene *scene)
{
	uint32_t what = 1u << pick(&scene->state, 5);

	if (!(scene->disturbs & what))
		return 0;
	switch (what) {
	case TURNS_KNOBS:
		return pick(&scene->state, 3) ? scene_turn_knob(scene)
					      : scene_calm();
	case KILLS:
		return pick(&scene->state, 3) ? 0 : scene_kill(scene);
	case UNBINDS:
		return pick(&scene->state, 6) ? 0 : scene_unbind(scene);
	case SLEEPS:
		return pick(&scene->state, 3) ? 0 : scene_sleep(scene);
	default:
		return scene_jam(scene);
	}
}

/* Chooses what this scene has. */
static void scene_choose(struct scene *scene)
{
	struct random_stage *stage = scene->stage;

	scene->disturbs = pick(&scene->state, KINDS);
	if (pick(&scene->state, 6))
		scene->disturbs &= ~(uint32_t)JAMS;
	if (!*STREAM_ASLEEP)
		scene->disturbs &= ~(uint32_t)SLEEPS;
	stage->steady = !pick(&scene->state, 3);
	if (stage->steady)
		scene->disturbs &= TURNS_KNOBS;
	scene->early = stream_read("batches", 0) == 1 && !stage->steady &&
		       pick(&scene->state, 2);
	stage->deaf = scene->disturbs & JAMS;
	stage->plain = !stream_has("empty") ||
		       (stage->steady && stream_read("axidma", 0) == 1);
	stage->splits = stream_has("split") && !pick(&scene->state, 3);
	stage->joins = stream_has("join") && !pick(&scene->state, 3);
	atomic_store(&stage->over, false);
	atomic_store(&stage->packets, 0);
	atomic_store(&stage->claims, 0);
	memset(stage->packet, 0, sizeof(stage->packet));
	memset(stage->claim, 0, sizeof(stage->claim));
}

static bool scene_child_ended(void *context)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t) * (pid_t *)context, &info,
		       WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* Waits for a process that has been told so; one that hangs fails the test. */
static int scene_finish(struct scene *scene, int i)
{
	pid_t child = scene->children[i];
	int ret;

	if (!child)
		return 0;
	if (!wait_for(scene_child_ended, &child)) {
		FAULT("process %d does not end: state %c", i,
		      process_state(child));
		kill(child, SIGKILL);
		return -ETIME;
	}
	scene->children[i] = 0;
	ret = process_wait(child);
	return ret ? FAULT("process %d ended with %d", i, ret) : 0;
}

/* One that made a dead channel's memory its own has ended before. */
static int scene_mend(struct scene *scene)
{
	int ret = 0;

	for (int i = 0; i < WORKERS && !ret; i++)
		if (scene_child_ended(&scene->children[i])) {
			ret = scene_finish(scene, i);
			if (!ret)
				ret = scene_start(scene, i);
		}
	return ret;
}

static int scene_play(struct scene *scene)
{
	uint64_t end = now_ns() + SCENE_NS;
	int ret = 0, finished;

	for (int i = 0; i < WORKERS && !ret; i++)
		ret = scene_start(scene, i);
	while (!ret && now_ns() < end && !atomic_load(&scene->stage->over)) {
		usleep(pick(&scene->state, 20000));
		ret = scene_disturb(scene);
		if (!ret)
			ret = scene_mend(scene);
	}
	if (ret)
		FAULT("the scene was disturbed: %d", ret);
	if (scene_calm())
		ret = -EINVAL;
	atomic_store(&scene->stage->over, true);
	for (int i = 0; i < WORKERS; i++) {
		finished = scene_finish(scene, i);
		ret = ret ? ret : finished;
	}
	return ret ? ret : -claims_check(scene->stage);
}

/* Does a packet pass, when all is calm?  On a fresh node if channels are dead. */
static int scene_ends(FIXTURE_DATA(stream) * self, const struct scene *scene)
{
	int ret = 0;

	close(self->node);
	if (scene->disturbs & JAMS) {
		ret = binding_unbind(&self->binding);
		if (!ret)
			ret = binding_bind(&self->binding);
	}
	self->node = node_open();
	if (ret || self->node < 0)
		return ret ? ret : self->node;
	ret = stream_open(self, 1);
	if (!ret)
		ret = stream_empty(self);
	if (!ret)
		ret = stream_passes(self);
	if (!ret) {
		line_close(&self->rx);
		line_close(&self->tx);
	}
	return ret;
}

/* Pairs of a sender and a receiver, from the first channel on. */
static uint32_t count_pairs(int node)
{
	struct dray_channel_info channel;
	uint32_t i;

	for (i = 0; i < RANDOM_LANES; i++)
		if (node_channel(node, i, &channel) ||
		    strncmp(channel.name, i % 2 ? "rx" : "tx", 2))
			break;
	return i / 2;
}

static uint64_t setting(const char *name, uint64_t usual)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : usual;
}

TEST_F_TIMEOUT(stream, random_calls_leave_streams_whole, 7200)
{
	uint64_t end = now_ns() + setting("DRAY_TEST_SECONDS", 5) * SECOND;
	uint64_t seed = setting("DRAY_TEST_SEED", now_ns());
	struct scene scene = { .binding = &self->binding };
	uint32_t whole = 0, scenes = 0;
	struct ledger calm;

	scene.stage = mmap(NULL, sizeof(*scene.stage), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, scene.stage);
	scene.stage->pairs = count_pairs(self->node);
	ASSERT_LT(0, scene.stage->pairs);
	scene.stage->drops = !stream_has("empty");
	scene.stage->pauses = stream_read("axidma", 0) != 1;
	scene.stage->merges = stream_read("merges", 0) == 1;
	for (; now_ns() < end; seed++, scenes++) {
		TH_LOG("DRAY_TEST_SEED=%" PRIu64, seed);
		scene.state = seed;
		scene_choose(&scene);
		ASSERT_EQ(0, ledger_take(self->node, &calm));
		ASSERT_EQ(0, scene_play(&scene));
		ASSERT_EQ(0, scene_ends(self, &scene));
		/* Memory that a dead channel had is not handed out again. */
		if (scene.disturbs & JAMS)
			self->loses = true;
		else
			ASSERT_EQ(0, ledger_differences(&calm));
		whole += atomic_exchange(&scene.stage->whole, 0);
	}
	TH_LOG("%u scenes, %u packets came whole", scenes, whole);
	EXPECT_LT(0, whole);
}
