import { evmFault } from '../faults.ts'

type Options = Readonly<Record<string, unknown>>

function optionsOf(tracer: string, config: unknown): Options {
  if (config === undefined || config === null) return {}
  if (typeof config !== 'object' || Array.isArray(config)) {
    throw evmFault('INVALID_TRACER_CONFIG', { tracer, reason: 'must be an object' })
  }
  return config as Options
}

/** Returns boolean options of a tracer, false when absent; unknown options are ignored, as in other clients. @throws Fault INVALID_TRACER_CONFIG */
export function switchesOf<Name extends string>(tracer: string, config: unknown, names: readonly Name[]): Readonly<Record<Name, boolean>> {
  const options = optionsOf(tracer, config)
  const entries = names.map((name) => {
    const value = options[name] ?? false
    if (typeof value !== 'boolean') throw evmFault('INVALID_TRACER_CONFIG', { tracer, reason: `"${name}" must be true or false` })
    return [name, value]
  })
  return Object.fromEntries(entries) as Record<Name, boolean>
}

/** Returns a count option; 0 when absent. @throws Fault INVALID_TRACER_CONFIG */
export function countOf(tracer: string, config: unknown, name: string): number {
  const value = optionsOf(tracer, config)[name] ?? 0
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw evmFault('INVALID_TRACER_CONFIG', { tracer, reason: `"${name}" must be a whole number` })
  }
  return value
}

/** Returns the configs of the tracers in a muxTracer, by name. @throws Fault INVALID_TRACER_CONFIG */
export function configsOf(tracer: string, config: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(optionsOf(tracer, config))
}
