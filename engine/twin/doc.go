// Package twin simulates an inference engine at the scale of GPUs: the scheduler, the block
// manager and the stage stamps are the engine's own, the time of a step comes from a cost model
// (package cost), the GPUs, the host and the engine's metrics page are modelled as well. A run is
// in virtual time and yields whole Samples, marked simulated; or the modelled runner serves HTTP
// in real time under the real engine.
package twin
