import type { CallRate } from '#monitor/rates'
import type { NodeSample } from '#monitor/sample'
import { fitted, red } from '../../screen.ts'
import { count, latency, size, spanText } from '../../textLayout.ts'
import { diskText, flashblocksText, forkText, l1Text, proofsText, syncText } from '../status/statusView.ts'
import { bar, type Course, callsPerSec, type History, sparkline } from './history.ts'

/** A sample and its past, for a terminal of a width. */
export type View = { readonly sample: NodeSample; readonly history: History; readonly columns: number }
/** A part of the view that a key selects. Its lines may be longer than the terminal is wide. */
export type Panel = { readonly title: string; readonly lines: (view: View) => readonly string[] }

const dash = '–'
const nameColumns = 14
const barColumns = 20

/** Replaces control characters, each by a space, so that columns stay aligned: texts of a node cannot control the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ')

/** Formats a line of a panel: a name, and values below each other. */
const row = (name: string, ...values: readonly string[]): readonly string[] =>
  (values.length === 0 ? [dash] : values).map((value, at) => `${fitted(at === 0 ? printable(name) : '', nameColumns)}${printable(value)}`)

const oneDigit = (value: number): string => (value < 99.95 ? value.toFixed(1) : count(value))
const rate = (value: number | null | undefined): string => (value == null ? dash : oneDigit(value))
const percent = (part: number | null): string => (part === null ? dash : `${(part * 100).toFixed(0)} %`)

/** Formats values by name: `ok 3.0, rate_limited 0.2`. */
const named = (values: Readonly<Record<string, number>> | undefined, format: (value: number) => string = oneDigit): string =>
  Object.entries(values ?? {})
    .map(([name, value]) => `${name} ${format(value)}`)
    .join(', ') || dash

/** A rate with its course in the columns that are left. */
function course(name: string, unit: number, of: Course, { sample: { rates }, history, columns }: View): readonly string[] {
  const value = of === 'callsPerSec' ? undefined : rates?.[of]
  const text = fitted(value == null ? dash : oneDigit(value / unit), 9, 'right')
  return row(name, `${text}  ${sparkline(history.last(of, columns - nameColumns - 12))}`)
}

/** An unsafe, safe or finalized head, its age, and its distance from the unsafe head. */
function headLine(label: 'unsafe' | 'safe' | 'finalized', { status: { heads } }: NodeSample): readonly string[] {
  const head = heads[label]
  if (head === null) return row(label)
  const age = head.ageSec === null ? '' : `${spanText(head.ageSec)} old`
  const behind = heads.unsafe === null || label === 'unsafe' ? '' : `${count(heads.unsafe.number - head.number)} blocks behind`
  return row(label, `${fitted(count(head.number), 13, 'right')}  ${fitted(age, 14)}${behind}`)
}

const l1Calls = ({ levels }: NodeSample): string => {
  const calls = named(levels?.l1PerBlock)
  return calls === dash ? dash : `${calls} calls for each L1 block`
}

function peersText({ status: { peers }, levels }: NodeSample): string {
  const connected = Object.fromEntries(Object.entries(levels?.peers ?? {}).filter(([, connections]) => connections > 0))
  if (peers === null) return dash
  return peers === 0 ? '0' : `${count(peers)}, connections: ${named(connected, count)}`
}

function memoryText({ status: { memory }, levels }: NodeSample): string {
  if (memory === null) return dash
  const pressure = ['', ', caches shrink', ', calls are refused'][levels?.memoryPressure ?? 0] ?? ''
  const part = memory.usedBytes / memory.limitBytes
  return `${bar(part, barColumns)} ${size(memory.usedBytes)} of ${size(memory.limitBytes)}${pressure}`
}

/** Returns the slowest class that had calls. */
const slowest = (calls: readonly CallRate[]): CallRate | undefined =>
  calls.filter(({ p99Sec }) => p99Sec !== null).toSorted((a, b) => (b.p99Sec ?? 0) - (a.p99Sec ?? 0))[0]

function rpcText(sample: NodeSample): string {
  const perSec = callsPerSec(sample)
  if (perSec === null) return dash
  const worst = slowest(sample.rates?.calls ?? [])
  return `${oneDigit(perSec)} calls/s${worst ? `, p99 ${latency(worst.p99Sec)} (${worst.class})` : ''}, ${rate(sample.rates?.refusedPerSec)} refused/s`
}

function ratesText({ rates }: NodeSample): string {
  const gas = rates?.gasPerSec == null ? dash : oneDigit(rates.gasPerSec / 1e6)
  return `${rate(rates?.blocksPerSec)} blocks/s, ${gas} Mgas/s, ${rate(rates?.transactionsPerSec)} tx/s`
}

function readyLines({ status: { ready, problems, silent } }: NodeSample): readonly string[] {
  const texts = [
    ...(ready === null ? ['unknown'] : ready ? ['yes'] : ['no', ...problems]),
    ...silent.map(({ part, reason }) => `${part} does not answer: ${reason}`),
  ]
  const lines = row('ready', ...texts)
  return ready === true && silent.length === 0 ? lines : lines.map(red)
}

function overview({ sample }: View): readonly string[] {
  const { status } = sample
  return [
    ...headLine('unsafe', sample),
    ...headLine('safe', sample),
    ...headLine('finalized', sample),
    ...row('L1', l1Text(status)),
    ...row('sync', ...syncText(status)),
    ...row('import', ratesText(sample)),
    ...row('RPC', rpcText(sample)),
    ...row('peers', peersText(sample)),
    ...row('L1 quota', l1Calls(sample)),
    ...row('memory', memoryText(sample)),
    ...row('disk', diskText(status)),
    ...row('fork', forkText(status, sample.timeMs)),
    ...readyLines(sample),
  ]
}

function importPanel(view: View): readonly string[] {
  const { levels, rates } = view.sample
  const stages = Object.entries(rates?.stages ?? {})
  const running = levels?.runningSec ? `, a block runs for ${spanText(levels.runningSec)}` : ''
  return [
    ...course('blocks/s', 1, 'blocksPerSec', view),
    ...course('Mgas/s', 1e6, 'gasPerSec', view),
    ...course('tx/s', 1, 'transactionsPerSec', view),
    ...(stages.length === 0 ? row('stages') : []),
    ...stages.flatMap(([stage, part]) => row(stage, `${bar(part, barColumns)} ${percent(part)} of a core`)),
    ...row(
      'not committed',
      levels === null ? dash : `${count(levels.uncommittedBlocks ?? 0)} blocks, journal ${size(levels.journalBytes ?? 0)}${running}`,
    ),
    ...row('pool', levels?.poolPending == null ? dash : `${count(levels.poolPending)} pending, ${count(levels.poolQueued ?? 0)} queued`),
    ...row('cache hits', percent(rates?.cacheHits ?? null)),
  ]
}

const callColumns = [nameColumns, 12, 12, 12] as const

function rpcPanel(view: View): readonly string[] {
  const { sample, history, columns } = view
  const { rates, levels } = sample
  const table = (cells: readonly string[]): string =>
    cells.map((cell, at) => fitted(printable(cell), callColumns[at] ?? 12, at === 0 ? 'left' : 'right')).join('')
  const calls = (rates?.calls ?? []).map((call) =>
    table([call.class, oneDigit(call.perSec), latency(call.medianSec), latency(call.p99Sec)]),
  )
  const spark = sparkline(history.last('callsPerSec', columns - nameColumns - 12))
  return [
    ...row('calls/s', `${fitted(rate(callsPerSec(sample)), 9, 'right')}  ${spark}`),
    table(['class', 'calls/s', 'median', 'p99']),
    ...(calls.length === 0 ? [dash] : calls),
    ...row('refused', `${rate(rates?.refusedPerSec)} calls/s by limits`),
    ...row('WebSockets', levels?.sockets == null ? dash : `${count(levels.sockets)} open`),
    ...row(
      'threads',
      levels?.rpcThreads == null ? dash : `${count(levels.rpcThreads)}, event loop p99 ${latency(levels.rpcLoopLagP99Sec)}`,
    ),
  ]
}

function networkPanel({ sample }: View): readonly string[] {
  const { status, rates, levels } = sample
  const gossip = levels?.lastGossipSec == null || levels.lastGossipSec < 0 ? 'none yet' : `${spanText(levels.lastGossipSec)} ago`
  return [
    ...row('L1', l1Text(status)),
    ...row('L1 calls/s', named(rates?.l1)),
    ...row('L1 quota', l1Calls(sample)),
    ...row('L1 endpoints', levels === null ? dash : `usable: ${named(levels.l1Usable, count)}`),
    ...row('peers', peersText(sample)),
    ...row('mesh', levels?.meshPeers == null ? dash : `${count(levels.meshPeers)} peers, last block from peers ${gossip}`),
    ...row('flashblocks', flashblocksText(status)),
    ...row('proofs', proofsText(status)),
    ...(status.trust === null ? [] : row('trust', `the start is ${status.trust}`)),
  ]
}

function resourcesPanel({ sample }: View): readonly string[] {
  const { status, rates, levels } = sample
  const caches = Object.entries(levels?.caches ?? {}).filter(([, { limitBytes }]) => limitBytes > 0)
  return [
    ...row('memory', memoryText(sample)),
    ...row('', named(levels?.memory, size)),
    ...row('disk', diskText(status)),
    ...row('event loop', `p99 ${latency(levels?.loopLagP99Sec ?? null)} late`),
    ...row('faults', `${rate(rates?.faultsPerSec)} logged/s`),
    ...row('cache hits', percent(rates?.cacheHits ?? null)),
    ...caches.flatMap(([name, { heldBytes, limitBytes }]) =>
      row(name, `${bar(heldBytes / limitBytes, barColumns)} ${size(heldBytes)} of ${size(limitBytes)}`),
    ),
  ]
}

/** The panels, in the order of their keys. */
export const panels: readonly Panel[] = [
  { title: 'Overview', lines: overview },
  { title: 'Import', lines: importPanel },
  { title: 'RPC', lines: rpcPanel },
  { title: 'Network', lines: networkPanel },
  { title: 'Resources', lines: resourcesPanel },
]
