/* The script: what the library plays, and when. */
#include "fake.h"

struct line lines[MAX_LINES];
int line_count, users;
static double began;
static double waits; /* where time stands still until somebody listens, 0: it does not */
struct gpu gpus[MAX_DEVICES];

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
		return waits > 0 ? waits : monotonic() - began;
	double t = 0;
	FILE *f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%lf", &t) != 1)
			t = 0;
		fclose(f);
	}
	return t;
}

/* somebody_listens lets time go on in a script that waits for that */
void somebody_listens(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	if (waits > 0)
		began = monotonic() - waits;
	waits = 0;
	pthread_mutex_unlock(&lock);
}

/* hash_of makes looking through a long script cheap */
static unsigned hash_of(const char *key)
{
	unsigned h = 5381;
	while (*key)
		h = h * 33 + (unsigned char)*key++;
	return h;
}

/* place is where a GPU or a MIG instance stands among gpus; -1: all */
static int place(const char *name)
{
	int gpu, i;
	int given = sscanf(name, "%d/%d", &gpu, &i);
	if (given < 1 || gpu < 0 || gpu >= MAX_GPUS)
		return -1;
	return given == 2 ? instance(gpu, i % MAX_INSTANCES) : gpu;
}

void read_script(void)
{
	const char *path = getenv("FAKE_NVML_SCRIPT");
	FILE *f = path ? fopen(path, "r") : NULL;
	char text[256], gpu[8];
	line_count = 0;
	began = monotonic();
	for (int i = 0; i < MAX_DEVICES; i++)
		gpus[i].index = i;
	while (f && line_count < MAX_LINES && fgets(text, sizeof text, f)) {
		struct line *l = &lines[line_count];
		memset(l, 0, sizeof *l);
		if (text[0] == '#' || sscanf(text, "%lf %7s %47s %95[^\n]", &l->at, gpu, l->key, l->value) != 4)
			continue;
		l->gpu = place(gpu);
		l->hash = hash_of(l->key);
		line_count++;
	}
	if (f)
		fclose(f);
	waits = number_at(-1, "waits", 0, 0);
}

const struct line *line_at(int gpu, const char *key, double t)
{
	unsigned hash = hash_of(key);
	const struct line *found = NULL;
	double best = -1;
	for (int i = 0; i < line_count; i++) {
		const struct line *l = &lines[i];
		if (l->hash == hash && (l->gpu == gpu || l->gpu < 0) && l->at <= t && l->at >= best && !strcmp(l->key, key)) {
			best = l->at;
			found = l;
		}
	}
	return found;
}

/* value of key for a GPU (-1: the host) at a time, NULL when the script has none */
const char *text_at(int gpu, const char *key, double t)
{
	const struct line *l = line_at(gpu, key, t);
	return l ? l->value : NULL;
}

double number_at(int gpu, const char *key, double t, double otherwise)
{
	const struct line *l = line_at(gpu, key, t);
	if (!l)
		return otherwise;
	char *rest;
	double value = strtod(l->value, &rest);
	return *rest == '+' ? value + strtod(rest + 1, NULL) * (t - l->at) : value;
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
	double delay = number(gpu, key);
	if (delay > 0)
		usleep((useconds_t)(delay * 1000));
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

ret give_long(device d, const char *function, const char *key, unsigned long long *to)
{
	ENTER(d, function);
	const char *value = text_at(d.gpu->index, key, now());
	if (!value)
		return NOT_SUPPORTED;
	*to = strchr(value, '+') ? (unsigned long long)number(d.gpu->index, key) : strtoull(value, NULL, 10);
	return OK;
}
