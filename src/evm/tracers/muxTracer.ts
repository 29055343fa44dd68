import type { StepNeeds, TraceNeeds, Tracer } from '../traceEvents.ts'

function stepsOf(needs: readonly TraceNeeds[]): StepNeeds | undefined {
  const steps = needs.flatMap(({ steps }) => (steps === undefined ? [] : [steps]))
  if (steps.length === 0) return undefined
  const ops = steps.some(({ ops }) => ops === 'all') ? 'all' : [...new Set(steps.flatMap(({ ops }) => (ops === 'all' ? [] : ops)))]
  return {
    ops,
    stackWords: Math.max(...steps.map(({ stackWords }) => stackWords)),
    memory: steps.some(({ memory }) => memory),
    returnData: steps.some(({ returnData }) => returnData),
  }
}

/**
 * Creates a tracer that runs several tracers at once and returns their results by name. Each receives the events it needs.
 * @see go-ethereum documentation, "Built-in tracers", muxTracer
 */
export function createMuxTracer(parts: readonly (readonly [string, Tracer])[]): Tracer {
  const tracers = parts.map(([, tracer]) => tracer)
  const stepping = tracers.filter(({ needs }) => needs.steps !== undefined)
  const all = tracers.map(({ needs }) => needs)
  return {
    needs: {
      frames: all.some(({ frames }) => frames),
      logs: all.some(({ logs }) => logs),
      accounts: all.some(({ accounts }) => accounts),
      steps: stepsOf(all),
    },
    begin(transaction): void {
      for (const tracer of tracers) tracer.begin(transaction)
    },
    onEnter(frame): void {
      for (const tracer of tracers) tracer.onEnter(frame)
    },
    onLeave(end): void {
      for (const tracer of tracers) tracer.onLeave(end)
    },
    onStep(step): void {
      for (const tracer of stepping) tracer.onStep(step)
    },
    onLog(log): void {
      for (const tracer of tracers) tracer.onLog(log)
    },
    onNativeAccess(address, slot): void {
      for (const tracer of tracers) tracer.onNativeAccess(address, slot)
    },
    onAccount(address): void {
      for (const tracer of tracers) tracer.onAccount(address)
    },
    end(end, before, after): void {
      for (const tracer of tracers) tracer.end(end, before, after)
    },
    result: () => Object.fromEntries(parts.map(([name, tracer]) => [name, tracer.result()])),
  }
}
