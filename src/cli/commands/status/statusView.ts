import type { HeadFacts, StatusFacts } from '#monitor/statusFacts'
import { count, type Field, fieldLines, size, spanText } from '../../textLayout.ts'

const dash = '–'

function headText(head: HeadFacts | null): string {
  if (head === null) return dash
  const age = head.ageSec === null ? '' : `, ${spanText(head.ageSec)} old`
  return `${count(head.number)}${age}${head.hash === null ? '' : `, ${head.hash}`}`
}

function networkText({ network, chainId }: StatusFacts): string {
  if (chainId === null) return dash
  return network === null ? `chain ${chainId}` : `${network} (chain ${chainId})`
}

export function forkText({ fork, nextFork }: StatusFacts, nowMs: number): string {
  const next = nextFork && `, ${nextFork.fork} in ${spanText(nextFork.timeSec - nowMs / 1_000)}`
  return `${fork ?? dash}${next ?? ''}`
}

export function syncText({ sync: { phase, leftSec, waits } }: StatusFacts): readonly string[] {
  const left = phase !== 'syncing' ? '' : leftSec === null ? ', time left not known yet' : `, ${spanText(leftSec)} left`
  return [`${phase}${left}`, ...waits.map(({ reason, sec }) => `waiting for ${reason} for ${spanText(sec)}`)]
}

export function l1Text({ l1 }: StatusFacts): string {
  if (l1 === null) return dash
  const derived = l1.derived === null ? 'not derived yet' : `derived ${count(l1.derived)}, ${count(l1.behindBlocks ?? 0)} behind`
  return `head ${count(l1.head)}${l1.headAgeSec === null ? '' : `, ${spanText(l1.headAgeSec)} old`}, ${derived}`
}

export function flashblocksText({ flashblocks }: StatusFacts): string {
  if (flashblocks === null || (flashblocks.publishers === 0 && !flashblocks.isFresh)) return 'off, or no publisher is connected'
  const { isFresh, block, flashblocks: slices, lastMessageSec, publishers } = flashblocks
  const last = lastMessageSec === null ? '' : `, last message ${spanText(lastMessageSec)} ago`
  const state = isFresh ? `pending block ${count(block)} with ${slices}` : 'no fresh pending block'
  return `${state}${last}, ${publishers} publishers connected`
}

export function proofsText({ proofs }: StatusFacts): string {
  if (proofs === null) return 'not recorded'
  const lag = proofs.lagBlocks === null ? '' : `, ${count(proofs.lagBlocks)} behind the head`
  return `blocks ${count(proofs.earliest)} to ${count(proofs.latest)}${lag}${proofs.isRecording ? '' : ', recording has ended'}`
}

export function diskText({ disk }: StatusFacts): string {
  if (disk === null) return dash
  const { leftSec } = disk
  const left = leftSec === null ? 'use not measured yet' : leftSec === 'never' ? 'not filling' : `full in ${spanText(leftSec)}`
  return `${size(disk.freeBytes)} free, ${left}; chain ${size(disk.storeBytes)}`
}

function fillText({ text, ratio, aheadRatio }: NonNullable<StatusFacts['fill']>): readonly string[] {
  return [
    text ?? (ratio === null ? dash : `${(100 * ratio).toFixed(2)} % of the keys are stored`),
    ...(aheadRatio === null ? [] : [`${(100 * aheadRatio).toFixed(1)} % of the executed blocks lacked nothing`]),
  ]
}

function readyText({ ready, problems }: StatusFacts): string | readonly string[] {
  if (ready === null) return 'unknown'
  return ready ? 'yes' : ['no', ...problems]
}

/** Returns the state of a node for a person. */
export function statusText(facts: StatusFacts, nowMs: number): string {
  const { heads, memory, mode, version, peers, silent } = facts
  const fields: Field[] = [
    ['node', [version ?? dash, ...(mode === null ? [] : [`mode ${mode}`])].join(', ')],
    ['network', networkText(facts)],
    ['fork', forkText(facts, nowMs)],
    ['unsafe head', headText(heads.unsafe)],
    ['safe head', headText(heads.safe)],
    ['finalized head', headText(heads.finalized)],
    ['L1', l1Text(facts)],
    ['sync', syncText(facts)],
    ...(facts.trust === null ? [] : [['trust', `the start is ${facts.trust}`] as const]),
    ...(facts.fill === null ? [] : [['state', fillText(facts.fill)] as const]),
    ...(peers === null || peers === 0 ? [] : [['peers', count(peers)] as const]),
    ['flashblocks', flashblocksText(facts)],
    ['proofs', proofsText(facts)],
    ['disk', diskText(facts)],
    ['memory', memory === null ? dash : `${size(memory.usedBytes)} of ${size(memory.limitBytes)}`],
    ['ready', readyText(facts)],
    ...silent.map(({ part, reason }): Field => [part, `no answer: ${reason}`]),
  ]
  return fieldLines(fields)
}
