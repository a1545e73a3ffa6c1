/* Events: each line with the key xid is one, at its time. */
#include "fake.h"

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
