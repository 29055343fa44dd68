import type { FaultSpec } from './fault.ts'

/** Returns a fault's text with the names of its data in the places of their values: `slot ${d.slot}` in the source is `slot {slot}`; a text that is not always there is in brackets. */
export function faultTemplate(spec: FaultSpec): string {
  const source = String(spec.says)
  const text = source.slice(source.indexOf('=>') + 2).trim()
  const whole = /^d\.(\w+)$/.exec(text)
  if (whole) return `{${whole[1]}}`
  const named = text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, nameOf)
  return named.replaceAll(/^[`']|[`']$/g, '')
}

function nameOf(part: string): string {
  const sometimes = /\? '([^']*)' : ''/.exec(part)?.[1]
  return sometimes === undefined ? `{${/\bd\.(\w+)/.exec(part)?.[1] ?? part.slice(2, -1)}}` : `[${sometimes}]`
}
