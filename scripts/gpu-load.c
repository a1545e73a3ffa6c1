/*
 * gpu-load - keeps every CUDA device of this host busy for some seconds.
 *
 *   cc -O1 -o gpu-load gpu-load.c -ldl && ./gpu-load 30
 *
 * It loads the driver's library by itself, so that neither CUDA's headers nor its
 * toolkit are needed. A kernel streams a buffer of 256 MiB (less, where there is less)
 * and multiplies: memory and SMs are both at work. It prints a line when all devices
 * are, and changes nothing that outlives it. Status 3: there is no library or no device.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16, BLOCKS = 1056, THREADS = 256 };

typedef void *handle;
typedef unsigned long long address;

static int (*init)(unsigned), (*count)(int *), (*device_get)(int *, int), (*create)(handle *, unsigned, int),
	(*use)(handle), (*load)(handle *, const void *), (*function)(handle *, handle, const char *), (*alloc)(address *, size_t),
	(*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **),
	(*wait_for)(void), (*destroy)(handle);

static const struct { const char *name; void *to; } symbols[] = {
	{ "cuInit", &init }, { "cuDeviceGetCount", &count }, { "cuDeviceGet", &device_get }, { "cuCtxCreate_v2", &create },
	{ "cuCtxSetCurrent", &use }, { "cuModuleLoadData", &load }, { "cuModuleGetFunction", &function }, { "cuMemAlloc_v2", &alloc },
	{ "cuLaunchKernel", &launch }, { "cuCtxSynchronize", &wait_for }, { "cuCtxDestroy_v2", &destroy },
};

/* Each thread walks over the buffer in steps of the grid, sixteen times: it reads a number,
 * multiplies and adds eight times, and writes it back. */
static const char kernel[] =
	".version 6.3\n"
	".target %s\n"
	".address_size 64\n"
	".visible .entry stream(.param .u64 buffer, .param .u32 numbers)\n"
	"{\n"
	"	.reg .pred %%p<2>;\n"
	"	.reg .b32 %%r<9>;\n"
	"	.reg .f32 %%f<2>;\n"
	"	.reg .b64 %%d<4>;\n"
	"	ld.param.u64 %%d0, [buffer];\n"
	"	cvta.to.global.u64 %%d1, %%d0;\n"
	"	ld.param.u32 %%r0, [numbers];\n"
	"	mov.u32 %%r1, %%ctaid.x;\n"
	"	mov.u32 %%r2, %%ntid.x;\n"
	"	mov.u32 %%r3, %%tid.x;\n"
	"	mov.u32 %%r4, %%nctaid.x;\n"
	"	mad.lo.s32 %%r5, %%r1, %%r2, %%r3;\n"
	"	mul.lo.s32 %%r6, %%r4, %%r2;\n"
	"	mov.u32 %%r7, 0;\n"
	"again:\n"
	"	mov.u32 %%r8, %%r5;\n"
	"next:\n"
	"	setp.ge.u32 %%p0, %%r8, %%r0;\n"
	"	@%%p0 bra done;\n"
	"	mul.wide.u32 %%d2, %%r8, 4;\n"
	"	add.s64 %%d3, %%d1, %%d2;\n"
	"	ld.global.f32 %%f0, [%%d3];\n"
	"	mov.f32 %%f1, 0f3F7FFFF0;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	fma.rn.f32 %%f0, %%f0, %%f1, %%f1;\n"
	"	st.global.f32 [%%d3], %%f0;\n"
	"	add.s32 %%r8, %%r8, %%r6;\n"
	"	bra next;\n"
	"done:\n"
	"	add.s32 %%r7, %%r7, 1;\n"
	"	setp.lt.u32 %%p1, %%r7, 16;\n"
	"	@%%p1 bra again;\n"
	"	ret;\n"
	"}\n";

struct work { handle context, entry; address buffer; unsigned numbers; };

/* prepare readies one device; the kernel is compiled for the newest architecture that it knows */
static int prepare(int index, struct work *w)
{
	static const char *const targets[] = { "sm_75", "sm_60", "sm_52" };
	int device, failed = device_get(&device, index);
	handle module = NULL;
	if (failed || (failed = create(&w->context, 0, device)))
		return failed;
	failed = 1;
	for (unsigned i = 0; failed && i < sizeof targets / sizeof *targets; i++) {
		char text[sizeof kernel + 16];
		snprintf(text, sizeof text, kernel, targets[i]);
		failed = load(&module, text);
	}
	if (failed || (failed = function(&w->entry, module, "stream")))
		return failed;
	failed = 1;
	for (size_t size = (size_t)256 << 20; failed && size >= (size_t)16 << 20; size /= 4) {
		failed = alloc(&w->buffer, size);
		w->numbers = (unsigned)(size / 4);
	}
	return failed;
}

static int start(struct work *w)
{
	void *parameters[] = { &w->buffer, &w->numbers };
	int failed = use(w->context);
	return failed ? failed : launch(w->entry, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	static struct work works[MOST];
	double until = now() + (argc > 1 ? atof(argv[1]) : 10);
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "gpu-load: no libcuda.so.1\n");
		return 3;
	}
	for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++)
		if (!(*(void **)symbols[i].to = dlsym(library, symbols[i].name))) {
			fprintf(stderr, "gpu-load: libcuda.so.1 has no %s\n", symbols[i].name);
			return 3;
		}
	int devices = 0, failed = init(0);
	if (failed || (failed = count(&devices)) || devices < 1) {
		fprintf(stderr, "gpu-load: no CUDA device (error %d)\n", failed);
		return 3;
	}
	if (devices > MOST)
		devices = MOST;
	for (int i = 0; i < devices; i++)
		if ((failed = prepare(i, &works[i])) || (failed = start(&works[i])) || (failed = wait_for())) {
			fprintf(stderr, "gpu-load: device %d: CUDA error %d\n", i, failed);
			return 1;
		}
	printf("running on %d devices\n", devices);
	fflush(stdout);
	while (!failed && now() < until) {
		for (int i = 0; !failed && i < devices; i++)
			failed = start(&works[i]) || start(&works[i]);
		for (int i = 0; !failed && i < devices; i++)
			failed = use(works[i].context) || wait_for();
	}
	for (int i = 0; i < devices; i++)
		destroy(works[i].context);
	if (failed)
		fprintf(stderr, "gpu-load: a kernel failed\n");
	return failed != 0;
}
