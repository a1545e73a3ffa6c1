/*
 * fakenvml.c - a libnvidia-ml.so.1 that plays a script instead of asking a driver.
 *
 * It has the functions that llmtop calls, with the ABI of the real library (the
 * structures are written out from NVML's documentation; 64-bit Linux), so that the
 * whole path through go-nvml runs in tests and demonstrations without a GPU.
 *
 *   cc -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -pthread \
 *      -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 fakenvml.c
 *
 * The script is the file named by FAKE_NVML_SCRIPT, read when NVML is initialised
 * and no user is left from before. A line is
 *
 *   <seconds> <gpu|*> <key> <value to the end of the line>
 *
 * and means: from then on, for that GPU (or for all), key has that value. Lines
 * starting with # are comments. The later line wins when two apply.
 *
 *   count, driver, error.Init            of the host (gpu *)
 *   name, uuid                           text
 *   util, memory_util                    %
 *   memory_total, memory_used, memory_reserved    bytes
 *   power, power_limit, power_default    mW
 *   sm_clock, memory_clock, sm_clock_max, memory_clock_max   MHz
 *   temperature                          degrees
 *   throttle                             bits of the clocks-event reasons
 *   gpm                                  0: the device has no GPM (default 1)
 *   gpm.<metric id>                      %, or nan; without it the metric is unsupported
 *   xid                                  a critical error of that number happens, once
 *   error.<Function>, error.*            what the call (any call) of that GPU returns
 *   delay_ms.<Function>                  how long the call takes
 *   hang.<Function>                      1: the call comes back only when this is 0 again
 *
 * <Function> is the name without nvml, Device and Get: PowerUsage, MemoryInfo_v2.
 *
 * Time is seconds since initialisation, or, with FAKE_NVML_CLOCK, the number in the
 * file of that name, so that a test moves time by writing it.
 *
 * -DOLD_DRIVER leaves out what a driver of 2019 did not have; -DNOT_NVML leaves out
 * the start, as a wrong library of the same name would.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#ifdef NOT_NVML
#define START static __attribute__((unused))
#else
#define START API
#endif

enum {
	OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, TOO_SMALL = 7,
	TIMEOUT = 10, MEMORY = 20, BAD_VERSION = 25, UNKNOWN = 999,
};
typedef int ret; /* nvmlReturn_t */

/* ---- script ---- */
enum { MAX_LINES = 2048, MAX_GPUS = 16 };

struct line { double at; int gpu; char key[48], value[96]; };
static struct line lines[MAX_LINES];
static int line_count, users;
static double began;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct gpu { int index; };
static struct gpu gpus[MAX_GPUS];
typedef struct { struct gpu *gpu; } device; /* nvmlDevice_t: one pointer */

static double monotonic(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double now(void)
{
	const char *path = getenv("FAKE_NVML_CLOCK");
	if (!path)
		return monotonic() - began;
	double t = 0;
	FILE *f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%lf", &t) != 1)
			t = 0;
		fclose(f);
	}
	return t;
}

static void read_script(void)
{
	const char *path = getenv("FAKE_NVML_SCRIPT");
	FILE *f = path ? fopen(path, "r") : NULL;
	char text[256], gpu[8];
	line_count = 0;
	began = monotonic();
	for (int i = 0; i < MAX_GPUS; i++)
		gpus[i].index = i;
	while (f && line_count < MAX_LINES && fgets(text, sizeof text, f)) {
		struct line *l = &lines[line_count];
		memset(l, 0, sizeof *l);
		if (text[0] == '#' || sscanf(text, "%lf %7s %47s %95[^\n]", &l->at, gpu, l->key, l->value) != 4)
			continue;
		l->gpu = gpu[0] == '*' ? -1 : atoi(gpu);
		line_count++;
	}
	if (f)
		fclose(f);
}
/* value of key for a GPU (-1: the host) at a time, NULL when the script has none */
static const char *text_at(int gpu, const char *key, double t)
{
	const char *value = NULL;
	double best = -1;
	for (int i = 0; i < line_count; i++) {
		const struct line *l = &lines[i];
		if ((l->gpu == gpu || l->gpu < 0) && l->at <= t && l->at >= best && !strcmp(l->key, key)) {
			best = l->at;
			value = l->value;
		}
	}
	return value;
}

static double number_at(int gpu, const char *key, double t, double otherwise)
{
	const char *value = text_at(gpu, key, t);
	return value ? strtod(value, NULL) : otherwise;
}

static double number(int gpu, const char *key) { return number_at(gpu, key, now(), 0); }

/* enter plays what the script says of a call as such: delay, hang, error */
static ret enter(device d, const char *function)
{
	char key[64];
	if (!users)
		return UNINITIALIZED;
	if (!d.gpu)
		return INVALID;
	int gpu = d.gpu->index;
	snprintf(key, sizeof key, "delay_ms.%s", function);
	usleep((useconds_t)(number(gpu, key) * 1000));
	snprintf(key, sizeof key, "hang.%s", function);
	while (number(gpu, key) != 0)
		usleep(2000);
	snprintf(key, sizeof key, "error.%s", function);
	double code = number_at(gpu, key, now(), -1);
	return (ret)(code >= 0 ? code : number(gpu, "error.*"));
}

#define ENTER(d, function) do { ret e = enter(d, function); if (e) return e; } while (0)
static ret give_text(const char *from, char *to, unsigned size)
{
	if (strlen(from) + 1 > size)
		return TOO_SMALL;
	strcpy(to, from);
	return OK;
}

static ret give_number(device d, const char *function, const char *key, unsigned *to)
{
	ENTER(d, function);
	if (!text_at(d.gpu->index, key, now()))
		return NOT_SUPPORTED;
	*to = (unsigned)number(d.gpu->index, key);
	return OK;
}

/* ---- start and host ---- */
static ret init(void)
{
	pthread_mutex_lock(&lock);
	if (!users)
		read_script();
	ret e = (ret)number(-1, "error.Init");
	if (!e)
		users++;
	pthread_mutex_unlock(&lock);
	return e;
}

START ret nvmlInit(void) { return init(); }

START ret nvmlShutdown(void)
{
	pthread_mutex_lock(&lock);
	ret e = users ? OK : UNINITIALIZED;
	if (users)
		users--;
	pthread_mutex_unlock(&lock);
	return e;
}

API const char *nvmlErrorString(ret e)
{
	static __thread char text[32];
	snprintf(text, sizeof text, "fake error %d", e);
	return text;
}

API ret nvmlSystemGetDriverVersion(char *to, unsigned size)
{
	const char *version = text_at(-1, "driver", now());
	return users ? give_text(version ? version : "0.0.fake", to, size) : UNINITIALIZED;
}

API ret nvmlDeviceGetCount(unsigned *to)
{
	if (!users)
		return UNINITIALIZED;
	*to = (unsigned)number(-1, "count");
	return OK;
}

API ret nvmlDeviceGetHandleByIndex(unsigned i, device *to)
{
	if (i >= MAX_GPUS || i >= (unsigned)number(-1, "count"))
		return INVALID;
	device d = { &gpus[i] };
	ENTER(d, "HandleByIndex");
	*to = d;
	return OK;
}

#if !defined OLD_DRIVER && !defined NOT_NVML
API ret nvmlInit_v2(void) { return init(); }
API ret nvmlDeviceGetCount_v2(unsigned *to) { return nvmlDeviceGetCount(to); }
API ret nvmlDeviceGetHandleByIndex_v2(unsigned i, device *to) { return nvmlDeviceGetHandleByIndex(i, to); }
#endif

/* ---- device ---- */
API ret nvmlDeviceGetName(device d, char *to, unsigned size)
{
	ENTER(d, "Name");
	const char *name = text_at(d.gpu->index, "name", now());
	return give_text(name ? name : "FAKE GPU", to, size);
}

API ret nvmlDeviceGetUUID(device d, char *to, unsigned size)
{
	ENTER(d, "UUID");
	char uuid[64];
	snprintf(uuid, sizeof uuid, "GPU-00000000-0000-0000-0000-%012d", d.gpu->index);
	const char *given = text_at(d.gpu->index, "uuid", now());
	return give_text(given ? given : uuid, to, size);
}

typedef struct { unsigned gpu, memory; } utilization;

API ret nvmlDeviceGetUtilizationRates(device d, utilization *to)
{
	ENTER(d, "UtilizationRates");
	to->gpu = (unsigned)number(d.gpu->index, "util");
	to->memory = (unsigned)number(d.gpu->index, "memory_util");
	return OK;
}

typedef struct { unsigned long long total, free, used; } memory_v1;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2;

API ret nvmlDeviceGetMemoryInfo(device d, memory_v1 *to)
{
	ENTER(d, "MemoryInfo");
	int g = d.gpu->index;
	to->total = (unsigned long long)number(g, "memory_total");
	to->used = (unsigned long long)(number(g, "memory_used") + number(g, "memory_reserved"));
	to->free = to->total - to->used;
	return OK;
}

#ifndef OLD_DRIVER
API ret nvmlDeviceGetMemoryInfo_v2(device d, memory_v2 *to)
{
	ENTER(d, "MemoryInfo_v2");
	if (to->version != (sizeof *to | 2u << 24))
		return BAD_VERSION;
	int g = d.gpu->index;
	to->total = (unsigned long long)number(g, "memory_total");
	to->reserved = (unsigned long long)number(g, "memory_reserved");
	to->used = (unsigned long long)number(g, "memory_used");
	to->free = to->total - to->reserved - to->used;
	return OK;
}
#endif

API ret nvmlDeviceGetPowerUsage(device d, unsigned *to) { return give_number(d, "PowerUsage", "power", to); }
API ret nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *to) { return give_number(d, "EnforcedPowerLimit", "power_limit", to); }
API ret nvmlDeviceGetPowerManagementDefaultLimit(device d, unsigned *to) { return give_number(d, "PowerManagementDefaultLimit", "power_default", to); }

API ret nvmlDeviceGetTemperature(device d, int sensor, unsigned *to)
{
	return sensor == 0 ? give_number(d, "Temperature", "temperature", to) : INVALID;
}

/* types of clocks: 0 graphics, 1 SM, 2 memory, 3 video */
API ret nvmlDeviceGetClockInfo(device d, int type, unsigned *to)
{
	return give_number(d, "ClockInfo", type == 2 ? "memory_clock" : "sm_clock", to);
}

API ret nvmlDeviceGetMaxClockInfo(device d, int type, unsigned *to)
{
	return give_number(d, "MaxClockInfo", type == 2 ? "memory_clock_max" : "sm_clock_max", to);
}

static ret throttle(device d, const char *function, unsigned long long *to)
{
	ENTER(d, function);
	const char *bits = text_at(d.gpu->index, "throttle", now());
	*to = bits ? strtoull(bits, NULL, 0) : 0;
	return OK;
}

/* ---- events: each line with the key xid is one, at its time ---- */
struct listener { int gpu; double since; int after; }; /* after: lines up to this one at since are told */
typedef struct { struct listener *listener; } event_set; /* nvmlEventSet_t: one pointer */
typedef struct { device device; unsigned long long type, data; unsigned gpu_instance, compute_instance; } event;

_Static_assert(sizeof(event) == 32, "ABI of NVML");

API ret nvmlEventSetCreate(event_set *to)
{
	to->listener = calloc(1, sizeof *to->listener);
	if (!to->listener)
		return MEMORY;
	to->listener->gpu = -1;
	return OK;
}

API ret nvmlEventSetFree(event_set s)
{
	free(s.listener);
	return OK;
}

API ret nvmlDeviceRegisterEvents(device d, unsigned long long types, event_set s)
{
	ENTER(d, "RegisterEvents");
	if (types != 8) /* nvmlEventTypeXidCriticalError */
		return NOT_SUPPORTED;
	*s.listener = (struct listener){ d.gpu->index, now(), line_count };
	return OK;
}

static ret next_event(struct listener *l, event *to)
{
	double t = now();
	int best = -1;
	for (int i = 0; i < line_count; i++) {
		const struct line *x = &lines[i];
		int later = x->at > l->since || (x->at == l->since && i > l->after);
		if ((x->gpu == l->gpu || x->gpu < 0) && !strcmp(x->key, "xid") && later && x->at <= t && (best < 0 || x->at < lines[best].at))
			best = i;
	}
	if (best < 0)
		return TIMEOUT;
	l->since = lines[best].at;
	l->after = best;
	*to = (event){ { &gpus[l->gpu] }, 8, strtoull(lines[best].value, NULL, 10), ~0u, ~0u };
	return OK;
}

API ret nvmlEventSetWait(event_set s, event *to, unsigned timeout_ms)
{
	if (!users)
		return UNINITIALIZED;
	ret e = next_event(s.listener, to);
	for (double until = monotonic() + timeout_ms * 1e-3; e == TIMEOUT && monotonic() < until; e = next_event(s.listener, to))
		usleep(2000);
	return e;
}

#ifndef OLD_DRIVER
API ret nvmlEventSetWait_v2(event_set s, event *to, unsigned timeout_ms) { return nvmlEventSetWait(s, to, timeout_ms); }
#endif

API ret nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *to) { return throttle(d, "CurrentClocksThrottleReasons", to); }

#ifndef OLD_DRIVER
API ret nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *to) { return throttle(d, "CurrentClocksEventReasons", to); }

/* ---- GPM: a metric is the mean of its script between two samples ---- */
struct taken { int gpu, filled; double at; };
typedef struct { struct taken *taken; } sample; /* nvmlGpmSample_t: one pointer */
typedef struct { unsigned version, supported; } gpm_support;
typedef struct { unsigned id; ret ret; double value; const char *names[3]; } metric; /* 40 bytes */
/* the array's length differs from header to header: only count may be trusted */
typedef struct { unsigned version, count; sample from, to; metric metrics[]; } metrics_get;

_Static_assert(sizeof(metric) == 40 && sizeof(metrics_get) == 24 && sizeof(memory_v2) == 40, "ABI of NVML");

API ret nvmlGpmQueryDeviceSupport(device d, gpm_support *to)
{
	ENTER(d, "GpmQueryDeviceSupport");
	if (to->version != 1)
		return BAD_VERSION;
	to->supported = number_at(d.gpu->index, "gpm", now(), 1) != 0;
	return OK;
}

API ret nvmlGpmSampleAlloc(sample *to)
{
	to->taken = calloc(1, sizeof *to->taken);
	return to->taken ? OK : MEMORY;
}

API ret nvmlGpmSampleFree(sample s)
{
	free(s.taken);
	return s.taken ? OK : INVALID;
}

API ret nvmlGpmSampleGet(device d, sample s)
{
	ENTER(d, "GpmSampleGet");
	if (!s.taken)
		return INVALID;
	*s.taken = (struct taken){ d.gpu->index, 1, now() };
	return OK;
}

static void measure(metric *m, const struct taken *from, const struct taken *to)
{
	enum { STEPS = 64 };
	char key[24];
	double sum = 0;
	snprintf(key, sizeof key, "gpm.%u", m->id);
	if (!text_at(to->gpu, key, to->at)) {
		m->ret = NOT_SUPPORTED;
		return;
	}
	for (int i = 0; i < STEPS; i++)
		sum += number_at(to->gpu, key, from->at + (to->at - from->at) * (i + .5) / STEPS, 0);
	m->value = sum / STEPS;
	m->ret = OK;
}

API ret nvmlGpmMetricsGet(metrics_get *q)
{
	if (q->version != 1)
		return BAD_VERSION;
	const struct taken *from = q->from.taken, *to = q->to.taken;
	if (!from || !to || !from->filled || !to->filled || from->gpu != to->gpu || to->at <= from->at)
		return INVALID;
	ENTER(((device){ &gpus[to->gpu] }), "GpmMetricsGet");
	for (unsigned i = 0; i < q->count; i++)
		measure(&q->metrics[i], from, to);
	return OK;
}
#endif
