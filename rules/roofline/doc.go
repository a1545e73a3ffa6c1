// Package roofline knows what hardware and models can do at best: tables of GPUs and models from
// data sheets and model cards, and the arithmetic between them. A Deployment is a model on some
// GPUs; its methods say what memory it takes, what a step must read and compute, and the floors of
// TTFT and TPOT that no engine gets below. It imports nothing and knows nothing of engines.
package roofline
