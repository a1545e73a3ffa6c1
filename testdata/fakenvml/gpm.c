/* GPM: a metric is the mean of its script between two samples. */
#include "fake.h"

#if !defined OLD_DRIVER && !defined MINIMAL
struct taken { int gpu, filled; double at; };
typedef struct { struct taken *taken; } sample; /* nvmlGpmSample_t: one pointer */
typedef struct { unsigned version, supported; } gpm_support;
typedef struct { unsigned id; ret ret; double value; const char *names[3]; } metric; /* 40 bytes */
/* the array's length differs from header to header: only count may be trusted */
typedef struct { unsigned version, count; sample from, to; metric metrics[]; } metrics_get;

_Static_assert(sizeof(metric) == 40 && sizeof(metrics_get) == 24, "ABI of NVML");

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

API ret nvmlGpmMigSampleGet(device d, unsigned id, sample s)
{
	ENTER(d, "GpmMigSampleGet");
	if (!s.taken)
		return INVALID;
	for (int i = 0; i < MAX_INSTANCES; i++)
		if ((unsigned)number_at(instance(d.gpu->index, i), "gpu_instance", now(), -1) == id) {
			ENTER(((device){ &gpus[instance(d.gpu->index, i)] }), "GpmMigSampleGet");
			*s.taken = (struct taken){ instance(d.gpu->index, i), 1, now() };
			return OK;
		}
	return INVALID;
}

static void measure(metric *m, const struct taken *from, const struct taken *to)
{
	enum { STEPS = 64 };
	char key[24];
	double sum = 0;
	snprintf(key, sizeof key, "gpm.%u", m->id);
	const struct line *now = line_at(to->gpu, key, to->at);
	m->ret = now ? OK : NOT_SUPPORTED;
	if (!now)
		return;
	if (now == line_at(from->gpu, key, from->at) && !strchr(now->value, '+')) {
		m->value = strtod(now->value, NULL);
		return;
	}
	for (int i = 0; i < STEPS; i++)
		sum += number_at(to->gpu, key, from->at + (to->at - from->at) * (i + .5) / STEPS, 0);
	m->value = sum / STEPS;
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
