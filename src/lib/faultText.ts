import type { FaultSpec } from './fault.ts'

/** Returns a fault's text with the names of its data in the places of their values: `slot ${d.slot}` in the source is `slot {slot}`. */
export function faultTemplate(spec: FaultSpec): string {
  const source = String(spec.says)
  const text = source.slice(source.indexOf('=>') + 2).trim()
  const named = text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, (part) => `{${/\bd\.(\w+)/.exec(part)?.[1] ?? part.slice(2, -1)}}`)
  return named.replaceAll(/^[`']|[`']$/g, '')
}
