/* The script: what the library plays, and when. */
#include "fake.h"

struct line lines[MAX_LINES];
int line_count, users;
static double began;


struct gpu gpus[MAX_GPUS];

double monotonic(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

double now(void)
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

void read_script(void)
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
const char *text_at(int gpu, const char *key, double t)
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

double number_at(int gpu, const char *key, double t, double otherwise)
{
	const char *value = text_at(gpu, key, t);
	return value ? strtod(value, NULL) : otherwise;
}

double number(int gpu, const char *key) { return number_at(gpu, key, now(), 0); }

/* enter plays what the script says of a call as such: delay, hang, error */
ret enter(device d, const char *function)
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

ret give_text(const char *from, char *to, unsigned size)
{
	if (strlen(from) + 1 > size)
		return TOO_SMALL;
	strcpy(to, from);
	return OK;
}

ret give_number(device d, const char *function, const char *key, unsigned *to)
{
	ENTER(d, function);
	if (!text_at(d.gpu->index, key, now()))
		return NOT_SUPPORTED;
	*to = (unsigned)number(d.gpu->index, key);
	return OK;
}

