import type { Json } from '#types/jsonShape'
import { countOf, textOf } from './chainRead.ts'
import { eventName, type Labels } from './labels.ts'

const maxDataChars = 66

/** Returns the cells of a log: position, contract, event, the other topics, data. */
export function logCells({ blockNumber, logIndex, address, topics, data }: Json, labels: Labels): readonly string[] {
  const [first, ...others] = Array.isArray(topics) ? (topics as readonly unknown[]) : []
  const text = textOf(data)
  const shortData = text.length > maxDataChars ? `${text.slice(0, maxDataChars)}… ${(text.length - 2) / 2} bytes` : text
  return [
    `${countOf(blockNumber)}/${countOf(logIndex)}`,
    labels.show(address),
    eventName(first) ?? textOf(first),
    others.map(topicText).join(' '),
    shortData,
  ]
}

/** Formats an indexed parameter: an address in its short form. */
function topicText(topic: unknown): string {
  const [, address] = (typeof topic === 'string' && /^0x0{24}([0-9a-f]{40})$/i.exec(topic)) || []
  return address === undefined || /^0{30}/.test(address) ? textOf(topic) : `0x${address}`
}

export const logHead = ['block/log', 'contract', 'event', 'indexed', 'data'] as const
