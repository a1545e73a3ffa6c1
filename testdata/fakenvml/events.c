/* Events: each line with the key xid is one, at its time. */
#include "fake.h"

#ifndef MINIMAL
struct ear { double since; int after; }; /* after: lines up to this one at since are told */
struct listener { struct ear of[MAX_GPUS]; int registered[MAX_GPUS]; };
typedef struct { struct listener *listener; } event_set; /* nvmlEventSet_t: one pointer */
typedef struct { device device; unsigned long long type, data; unsigned gpu_instance, compute_instance; } event;

_Static_assert(sizeof(event) == 32, "ABI of NVML");

API ret nvmlEventSetCreate(event_set *to)
{
	to->listener = calloc(1, sizeof *to->listener);
	return to->listener ? OK : MEMORY;
}

API ret nvmlEventSetFree(event_set s)
{
	free(s.listener);
	return OK;
}

API ret nvmlDeviceRegisterEvents(device d, unsigned long long types, event_set s)
{
	ENTER(d, "RegisterEvents");
	if (types != 8 || d.gpu->index >= MAX_GPUS) /* nvmlEventTypeXidCriticalError */
		return NOT_SUPPORTED;
	s.listener->of[d.gpu->index] = (struct ear){ now(), line_count };
	s.listener->registered[d.gpu->index] = 1;
	somebody_listens();
	return OK;
}

/* the first line that a GPU's ear has not heard, -1: none */
static int unheard(const struct listener *l, int gpu, double t)
{
	const struct ear *e = &l->of[gpu];
	int best = -1;
	for (int i = 0; l->registered[gpu] && i < line_count; i++) {
		const struct line *x = &lines[i];
		int later = x->at > e->since || (x->at == e->since && i > e->after);
		if ((x->gpu == gpu || x->gpu < 0) && !strcmp(x->key, "xid") && later && x->at <= t && (best < 0 || x->at < lines[best].at))
			best = i;
	}
	return best;
}

static ret next_event(struct listener *l, event *to)
{
	double t = now();
	int best = -1, gpu = -1;
	for (int g = 0; g < MAX_GPUS; g++) {
		int i = unheard(l, g, t);
		if (i >= 0 && (best < 0 || lines[i].at < lines[best].at)) {
			best = i;
			gpu = g;
		}
	}
	if (best < 0)
		return TIMEOUT;
	l->of[gpu] = (struct ear){ lines[best].at, best };
	*to = (event){ { &gpus[gpu] }, 8, strtoull(lines[best].value, NULL, 10), ~0u, ~0u };
	return OK;
}

API ret nvmlEventSetWait(event_set s, event *to, unsigned timeout_ms)
{
	if (!users)
		return UNINITIALIZED;
	while (number(-1, "hang.EventSetWait") != 0)
		usleep(2000);
	ret e = (ret)number(-1, "error.EventSetWait");
	if (!e)
		e = next_event(s.listener, to);
	for (double until = monotonic() + timeout_ms * 1e-3; e == TIMEOUT && monotonic() < until; e = next_event(s.listener, to))
		usleep(getenv("FAKE_NVML_CLOCK") ? 5000 : 200000); /* looked for in the script: a real driver is told, and costs nothing meanwhile */
	return e;
}

#ifndef OLD_DRIVER
API ret nvmlEventSetWait_v2(event_set s, event *to, unsigned timeout_ms) { return nvmlEventSetWait(s, to, timeout_ms); }
#endif
#endif
