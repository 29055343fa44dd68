import type { Endpoint } from '#lib/endpoint'
import { spanText } from '../textLayout.ts'
import type { Finding, FindingLevel } from './finding.ts'
import type { UsableL1 } from './l1.ts'
import { blockOf, type Probe, type ProbeDeps, type ProbedBlock, probe, probeBlock } from './probe.ts'

/** Time for which every beacon node must serve blobs: 4,096 epochs. @see consensus-specs, deneb, MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS */
const retentionSec = 4_096 * 32 * 12
/** Blocks that are searched for one with blobs. */
const searchedBlocks = 12

const finding = (level: FindingLevel, endpoint: Endpoint, what: string, fix: string): Finding => ({
  level,
  where: `--l1.beacon ${endpoint.name}`,
  what,
  fix,
})

const under = (endpoint: Endpoint, path: string): Endpoint => ({ ...endpoint, url: `${endpoint.url.replace(/\/$/, '')}${path}` })

/** Reads a decimal field of `data` of an answer of the beacon API. */
function dataField(answer: Probe, key: string): number | undefined {
  if (answer.kind !== 'answer' || typeof answer.json !== 'object' || answer.json === null) return undefined
  const { data } = answer.json as { data?: unknown }
  if (typeof data !== 'object' || data === null) return undefined
  const value = (data as Record<string, unknown>)[key]
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

const failureOf = (answer: Probe): string => (answer.kind === 'silent' ? answer.reason : `HTTP ${answer.status}`)

/** Returns the first block with blobs from a number on, downwards. */
async function blockWithBlobs(deps: ProbeDeps, { endpoint }: UsableL1, from: number): Promise<ProbedBlock | undefined> {
  const numbers = Array.from({ length: searchedBlocks }, (_, back) => from - back).filter((number) => number > 0)
  const blocks = await Promise.all(numbers.map(async (number) => blockOf(await probeBlock(deps, endpoint, number))))
  return blocks.find((block) => block?.hasBlobs)
}

/** Looks for blobs of a slot, by the newer and by the older of the two paths. @returns the last answer when there are none */
async function blobsOf(deps: ProbeDeps, endpoint: Endpoint, slot: number): Promise<Probe | 'there'> {
  let last: Probe | undefined
  for (const path of [`/eth/v1/beacon/blobs/${slot}`, `/eth/v1/beacon/blob_sidecars/${slot}`]) {
    const answer = await probe(deps, under(endpoint, path))
    const { data } = (answer.kind === 'answer' && answer.status === 200 ? (answer.json ?? {}) : {}) as { data?: unknown }
    if (Array.isArray(data) && data.length > 0) return 'there'
    last = answer.kind === 'silent' ? answer : (last ?? answer)
  }
  return last ?? 'there'
}

type Times = { readonly genesisSec: number; readonly slotSec: number }

async function blobFindings(
  deps: ProbeDeps,
  endpoint: Endpoint,
  times: Times,
  block: ProbedBlock | undefined,
): Promise<readonly Finding[]> {
  if (block === undefined) return []
  const slot = Math.floor((block.timestamp - times.genesisSec) / times.slotSec)
  const answer = await blobsOf(deps, endpoint, slot)
  if (answer === 'there') return []
  if (answer.kind === 'silent') {
    const fix = 'the endpoint is overloaded or too far away: name another one first'
    return [finding('warning', endpoint, `it does not answer a request for the blobs of slot ${slot}: ${answer.reason}`, fix)]
  }
  const ageSec = deps.clock.nowMs() / 1_000 - block.timestamp
  const what = `it has no blobs of L1 block ${block.number} (slot ${slot}), ${spanText(ageSec)} old`
  const isRecent = ageSec < 3_600
  return [
    isRecent
      ? finding(
          'error',
          endpoint,
          what,
          'name a beacon node that serves all blobs, such as one that runs with --supernode or --semi-supernode',
        )
      : finding('warning', endpoint, what, 'a node that was off for longer stops there: add an endpoint that archives blobs'),
  ]
}

/** Reads the genesis time and the slot time of a beacon API. A slot time of the operator replaces its own. */
async function lookAt(deps: ProbeDeps, endpoint: Endpoint, slotSec: number | undefined): Promise<Finding | Times> {
  const genesis = await probe(deps, under(endpoint, '/eth/v1/beacon/genesis'))
  const genesisSec = dataField(genesis, 'genesis_time')
  if (genesisSec === undefined) {
    const isOther = genesis.kind === 'answer' && genesis.status !== 429 && genesis.status < 500
    const fix = isOther
      ? 'this is no beacon API: check the URL, which has no path of its own usually'
      : 'check the URL and the network, or name another endpoint'
    return finding('error', endpoint, `the beacon API does not answer: ${failureOf(genesis)}`, fix)
  }
  if (slotSec !== undefined) return { genesisSec, slotSec }
  const spec = await probe(deps, under(endpoint, '/eth/v1/config/spec'))
  const seconds = dataField(spec, 'SECONDS_PER_SLOT')
  if (seconds !== undefined && seconds > 0) return { genesisSec, slotSec: seconds }
  return finding(
    'error',
    endpoint,
    `the beacon API has no slot time: ${failureOf(spec)}`,
    'set --l1.slot-seconds, or name another endpoint',
  )
}

const genesisOfMainnet: Readonly<Record<number, number>> = { 1: 1_606_824_023, 11155111: 1_655_733_600 }

/** Checks beacon APIs: chain, slot time, recent blobs, retention of blobs. */
export async function checkBeacon(
  deps: ProbeDeps,
  endpoints: readonly Endpoint[],
  l1: UsableL1 | undefined,
  { l1ChainId, slotSec }: { readonly l1ChainId: number; readonly slotSec: number | undefined },
): Promise<readonly Finding[]> {
  const nowSec = deps.clock.nowMs() / 1_000
  const recent = l1 && (await blockWithBlobs(deps, l1, l1.head.number - 2))
  const looked = await Promise.all(endpoints.map(async (endpoint) => ({ endpoint, times: await lookAt(deps, endpoint, slotSec) })))
  const findings = await Promise.all(
    looked.map(async ({ endpoint, times }): Promise<readonly Finding[]> => {
      if ('what' in times) return [times]
      const expected = genesisOfMainnet[l1ChainId]
      if (expected !== undefined && times.genesisSec !== expected) {
        return [
          finding(
            'error',
            endpoint,
            `its genesis time is ${times.genesisSec}, that of L1 (chain id ${l1ChainId}) is ${expected}`,
            'name a beacon API of the same chain as --l1.rpc',
          ),
        ]
      }
      const oldest = Math.max(times.genesisSec, nowSec - retentionSec + 86_400)
      const back = l1 && Math.floor((l1.head.timestamp - oldest) / times.slotSec)
      const old =
        l1 && back !== undefined && back > searchedBlocks
          ? await blockWithBlobs(deps, l1, l1.head.number - back + searchedBlocks)
          : undefined
      const [ofRecent, ofOld] = await Promise.all([blobFindings(deps, endpoint, times, recent), blobFindings(deps, endpoint, times, old)])
      return ofRecent.length > 0 ? ofRecent : ofOld
    }),
  )
  return findings.flat()
}
