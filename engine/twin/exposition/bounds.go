package exposition

// Bucket bounds of the Python engines, in seconds and tokens. vLLM's have found their way
// into TensorRT-LLM.
var (
	firstTokenBounds = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenBounds      = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds    = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	stepTokenBounds  = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
	transferBounds   = []float64{.005, .01, .025, .05, .075, .1, .2, .3, .5, .75, 1, 5}
	httpBounds       = []float64{.1, .5, 1}
)

// lengthBounds are 1, 2, 5, 10, 20, 50 … up to the longest sequence.
func lengthBounds(context int) (bounds []float64) {
	for step := 1; step <= context; step *= 10 {
		for _, m := range []int{1, 2, 5} {
			if step*m <= context {
				bounds = append(bounds, float64(step*m))
			}
		}
	}
	return bounds
}

// steps are n bounds in even steps up to the highest.
func steps(highest float64, n int) (bounds []float64) {
	for i := 1; i <= n; i++ {
		bounds = append(bounds, highest/float64(n)*float64(i))
	}
	return bounds
}

// products are n bounds above start, each so many times the one before.
func products(start, factor float64, n int) (bounds []float64) {
	for b := start * factor; len(bounds) < n; b *= factor {
		bounds = append(bounds, b)
	}
	return bounds
}

// SGLang's.
var (
	sglangFirst   = []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400}
	sglangTokens  = []float64{.002, .004, .006, .008, .01, .015, .02, .025, .03, .035, .04, .06, .08, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8}
	sglangRequest = []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400}
	sglangQueue   = []float64{0, .001, .005, .01, .05, .1, .2, .5, 1, 2, 3, 4, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100,
		200, 300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000}
	sglangLengths = []float64{100, 300, 500, 700, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 12500, 15000, 17500,
		20000, 22500, 25000, 27500, 30000, 35000, 40000, 60000, 80000, 1e5, 2e5, 3e5, 4e5, 6e5, 8e5, 1e6, 1.1e6}

	// A millisecond times 1.62 to the powers 0 to 29, rounded as Python rounds them.
	sglangStages = []float64{
		0.001, 0.0016200000000000001, 0.0026244000000000007, 0.004251528, 0.006887475360000002, 0.011157710083200004,
		0.018075490334784006, 0.029282294342350097, 0.047437316834607154, 0.07684845327206359, 0.12449449430074302,
		0.20168108076720373, 0.3267233508428701, 0.5292918283654495, 0.8574527619520282, 1.389073474362286, 2.2502990284669036,
		3.6454844261163837, 5.905684770308542, 9.567209327899839, 15.49887911119774, 25.10818416014034, 40.67525833942735,
		65.89391850987231, 106.74814798599316, 172.93199973730896, 280.1498395744405, 453.84274011059364, 735.2252389791618,
		1191.064887146242,
	}
)

// Our own engine's: vLLM's, and finer ones below.
var (
	ownFirst = []float64{
		.0001, .00025, .0005, .001, .002, .003, .005, .0075, .01, .015, .02, .03, .04, .06, .08, .1, .15, .25, .5, .75,
		1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
	}
	ownTokens = []float64{
		.0001, .00025, .0005, .001, .0015, .002, .003, .004, .005, .0075, .01, .015, .02, .025, .05, .075, .1, .15, .2, .3, .4,
		.5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
	}
	ownRequests = []float64{
		.0001, .00025, .0005, .001, .0025, .005, .01, .015, .025, .04, .06, .1, .15, .2, .3, .5, .8,
		1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
	}
	ownStages     = []float64{.0001, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 60, 300}
	ownSteps      = []float64{.00001, .00002, .00005, .0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 5, 30}
	ownHTTP       = []float64{.001, .01, .1, .5, 1, 5, 30}
	ownSequences  = []float64{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384}
	ownStepTokens = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

// ownLengths end with the longest sequence, where vLLM's end before it.
func ownLengths(context int) []float64 {
	bounds := lengthBounds(context - 1)
	return append(bounds, float64(context))
}
