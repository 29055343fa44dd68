import { count, type Field, fieldLines, size, spanText } from '../../textLayout.ts'
import { ether } from '../lookup/chainRead.ts'
import type { DaFacts, Spread } from './daFacts.ts'

const dash = '–'

const spreadText = (spread: Spread | null): string =>
  spread === null ? dash : `${spanText(spread.median)}, from ${spanText(spread.least)} to ${spanText(spread.most)}`

function transactionsText({
  transactions: { count: all, withBlobs, blobs, withCalldata, calldataBytes, failed, fromOthers },
}: DaFacts): string {
  const parts = [
    ...(withBlobs > 0 ? [`${count(withBlobs)} with ${count(blobs)} blobs`] : []),
    ...(withCalldata > 0 ? [`${count(withCalldata)} with ${size(calldataBytes)} of calldata`] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...(fromOthers > 0 ? [`${count(fromOthers)} from other senders ignored`] : []),
  ]
  return [`${count(all)} transactions`, ...parts].join(', ')
}

function channelsText({ channels, blobs, transactions }: DaFacts): string {
  const unread =
    blobs === null
      ? transactions.blobs > 0 && 'blobs are read with --l1.beacon'
      : blobs.missing > 0 && `${count(blobs.missing)} blobs not read: ${blobs.reason ?? 'unknown'}`
  if (channels === null) return unread || 'none'
  const { seen, closed, frames, malformed } = channels
  const texts = [`${count(seen)} seen`, `${count(closed)} closed`, `${count(frames)} frames`]
  return [...texts, ...(malformed > 0 ? [`${count(malformed)} malformed`] : []), ...(unread ? [unread] : [])].join(', ')
}

function l2Text({ l2 }: DaFacts): string {
  if (l2 === null) return 'no block became safe with these L1 blocks'
  const estimate = l2.measured < l2.blocks ? `, estimated from ${count(l2.measured)}` : ''
  return `${count(l2.blocks)} blocks (${count(l2.from)} to ${count(l2.to)}), ${size(l2.bytes)}${estimate}`
}

const inGwei = (wei: number | null): string => (wei === null ? dash : `${Number((wei / 1e9).toPrecision(3))} gwei`)

/** Returns the batches of a window for a person. */
export function daText(facts: DaFacts): string {
  const { l1, fees } = facts
  const fields: Field[] = [
    ['L1 blocks', `${count(l1.from)} to ${count(l1.to)}, ${spanText(l1.sec)}`],
    ['inbox', facts.inbox],
    ['batcher', facts.batcher],
    ['batches', transactionsText(facts)],
    ['interval', spreadText(facts.intervalSec)],
    ['channels', channelsText(facts)],
    ['fees', `${ether(BigInt(fees.totalWei))}: execution ${ether(BigInt(fees.executionWei))}, blobs ${ether(BigInt(fees.blobWei))}`],
    ['L2', l2Text(facts)],
    ['cost', `${inGwei(facts.weiPerL2Byte)} for an L2 byte, ${inGwei(facts.weiPerL2Block)} for a block`],
    ['delay', spreadText(facts.delaySec)],
  ]
  return fieldLines(fields)
}
