/* Start, end and the host. */
#include "fake.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ret init(void)
{
#ifdef STUB
	started_the_stub();
#endif
	pthread_mutex_lock(&lock);
	if (!users)
		read_script();
	ret e = (ret)number(-1, "error.Init");
	if (!e)
		users++;
	pthread_mutex_unlock(&lock);
	while (number(-1, "hang.Init") != 0)
		usleep(2000);
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

#ifndef MINIMAL
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

static ret cuda(int *to)
{
	if (!users)
		return UNINITIALIZED;
	*to = (int)number(-1, "cuda");
	return *to ? OK : NOT_FOUND;
}

API ret nvmlSystemGetCudaDriverVersion(int *to) { return cuda(to); }

#if !defined OLD_DRIVER && !defined NOT_NVML
API ret nvmlInit_v2(void) { return init(); }
API ret nvmlDeviceGetCount_v2(unsigned *to) { return nvmlDeviceGetCount(to); }
API ret nvmlDeviceGetHandleByIndex_v2(unsigned i, device *to) { return nvmlDeviceGetHandleByIndex(i, to); }
API ret nvmlSystemGetCudaDriverVersion_v2(int *to) { return cuda(to); }
#endif
#endif
