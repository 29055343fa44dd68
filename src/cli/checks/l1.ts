import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Endpoint } from '#lib/endpoint'
import { count, spanText } from '../textLayout.ts'
import type { Finding, FindingLevel } from './finding.ts'
import {
  blockOf,
  type CallProbe,
  numberOf,
  type ProbeDeps,
  type ProbedBlock,
  probeBlock,
  probeCall,
  refusalText,
  resultOf,
} from './probe.ts'

/** An L1 endpoint that answers and has the right chain. */
export type UsableL1 = { readonly endpoint: Endpoint; readonly head: ProbedBlock; readonly skewMs: number | undefined }
export type L1Report = { readonly findings: readonly Finding[]; readonly usable: readonly UsableL1[] }

/** Requests at once, as derivation makes when it catches up. */
const burst = 20
const slowMs = 1_000
/** Age of the head of L1 at which an endpoint has stopped to follow it. */
const staleSec = 180
/** Difference of heads at which an endpoint is behind the others. */
const behindBlocks = 5
/** Depth at which endpoints must agree: below any usual reorg. */
const agreedDepth = 8

const name = 'L1 endpoint'
const finding = (level: FindingLevel, endpoint: Endpoint, what: string, fix: string): Finding => ({
  level,
  where: `--l1.rpc ${endpoint.name}`,
  what,
  fix,
})

/** Explains an endpoint without a result. */
function deadFinding(endpoint: Endpoint, answer: CallProbe): Finding {
  if (answer.kind === 'refused' && answer.status === 429) {
    return finding(
      'error',
      endpoint,
      'the provider refuses requests (HTTP 429)',
      'its quota is used up: raise the plan, add another endpoint, or set --l1.max-rps',
    )
  }
  if (answer.kind === 'refused' && answer.status < 500) {
    return finding(
      'error',
      endpoint,
      `the provider refuses the key (HTTP ${answer.status})`,
      'check the key in the URL and its allowed addresses',
    )
  }
  return finding(
    'error',
    endpoint,
    `the ${name} does not answer: ${refusalText(answer)}`,
    'check the URL and the network, or name another endpoint',
  )
}

/** Sends requests at once and counts refusals. */
async function burstFindings(deps: ProbeDeps, { endpoint }: UsableL1): Promise<readonly Finding[]> {
  const answers = await Promise.all(Array.from({ length: burst }, () => probeCall(deps, endpoint, 'eth_blockNumber')))
  const refused = answers.filter((answer) => answer.kind === 'refused' && answer.status === 429).length
  const limited = answers.filter((answer) => answer.kind === 'error' && [-32_005, -32_016, 429].includes(answer.code)).length
  if (refused + limited === 0) return []
  const what = `${refused + limited} of ${burst} requests at once were refused (HTTP 429)`
  return [finding('warning', endpoint, what, 'set --l1.max-rps below the limit of the plan, or add another endpoint')]
}

/** Checks that an endpoint has the old blocks and receipts from which a new node derives the chain. */
async function archiveFindings(deps: ProbeDeps, { endpoint }: UsableL1, { genesis }: RollupConfig): Promise<readonly Finding[]> {
  const { number, hash } = genesis.l1
  const [first, receipts] = await Promise.all([
    probeBlock(deps, endpoint, number),
    probeCall(deps, endpoint, 'eth_getBlockReceipts', [`0x${number.toString(16)}`]),
  ])
  const block = blockOf(first)
  const fix = 'name an endpoint that keeps the whole history of L1 for the first sync'
  if (block === undefined)
    return [finding('error', endpoint, `L1 block ${number}, from which the chain is derived, is missing (${refusalText(first)})`, fix)]
  if (block.hash !== hash) {
    return [
      finding(
        'error',
        endpoint,
        `L1 block ${number} is ${block.hash}, the rollup config has ${hash}`,
        'this is another L1 chain: use an endpoint of the right one',
      ),
    ]
  }
  return Array.isArray(resultOf(receipts))
    ? []
    : [finding('error', endpoint, `receipts of L1 block ${number} are missing (${refusalText(receipts)})`, fix)]
}

/** Compares the block of one height at every endpoint. */
async function agreementFindings(deps: ProbeDeps, usable: readonly UsableL1[]): Promise<readonly Finding[]> {
  const [first, ...others] = usable
  if (first === undefined || others.length === 0) return []
  const heights = usable.map(({ head }) => head.number)
  const highest = Math.max(...heights)
  const behind = usable
    .filter(({ head }) => highest - head.number > behindBlocks)
    .map(({ endpoint, head }) =>
      finding(
        'warning',
        endpoint,
        `its head is ${highest - head.number} blocks behind the others (${count(head.number)})`,
        'remove it, or move it to the end of the list',
      ),
    )
  const common = Math.max(0, Math.min(...heights) - agreedDepth)
  const blocks = await Promise.all(usable.map(async ({ endpoint }) => blockOf(await probeBlock(deps, endpoint, common))))
  const differing = usable.filter((_, at) => blocks[at] !== undefined && blocks[at].hash !== blocks[0]?.hash)
  return [
    ...behind,
    ...differing.map(({ endpoint }) =>
      finding(
        'error',
        endpoint,
        `its L1 block ${count(common)} differs from that of ${first.endpoint.name}`,
        'one of the two is on another chain or branch: remove it',
      ),
    ),
  ]
}

type Looked = { readonly findings: readonly Finding[]; readonly usable?: UsableL1 }

async function lookAt(deps: ProbeDeps, endpoint: Endpoint, { l1ChainId }: RollupConfig): Promise<Looked> {
  const [chain, latest] = await Promise.all([probeCall(deps, endpoint, 'eth_chainId'), probeBlock(deps, endpoint, 'latest')])
  if (chain.kind !== 'result') return { findings: [deadFinding(endpoint, chain)] }
  const id = numberOf(chain.result)
  if (id !== l1ChainId) {
    return {
      findings: [
        finding(
          'error',
          endpoint,
          `its chain id is ${id ?? 'malformed'}, expected ${l1ChainId}`,
          'name an endpoint of the L1 of this chain',
        ),
      ],
    }
  }
  const head = blockOf(latest)
  if (head === undefined) return { findings: [deadFinding(endpoint, latest)] }
  const findings: Finding[] = []
  if (chain.tookMs > slowMs) {
    findings.push(
      finding(
        'warning',
        endpoint,
        `it takes ${spanText(chain.tookMs / 1_000)} to answer`,
        'name a nearer endpoint first, or use a faster plan',
      ),
    )
  }
  const ageSec = deps.clock.nowMs() / 1_000 - head.timestamp
  if (ageSec > staleSec) {
    findings.push(
      finding(
        'warning',
        endpoint,
        `its head is ${spanText(ageSec)} old`,
        'the endpoint does not follow L1, or the clock of this machine is ahead: see the other findings',
      ),
    )
  }
  return { findings, usable: { endpoint, head, skewMs: chain.skewMs } }
}

/**
 * Checks L1 endpoints: chain, latency, rate limit, history, agreement.
 * @param needsHistory the node derives from the chain's first L1 block
 */
export async function checkL1(
  deps: ProbeDeps,
  endpoints: readonly Endpoint[],
  config: RollupConfig,
  needsHistory: boolean,
): Promise<L1Report> {
  const looked = await Promise.all(endpoints.map((endpoint) => lookAt(deps, endpoint, config)))
  const usable = looked.flatMap((one) => (one.usable ? [one.usable] : []))
  const more = await Promise.all([
    ...usable.map((one) => burstFindings(deps, one)),
    ...(needsHistory ? usable.map((one) => archiveFindings(deps, one, config)) : []),
    agreementFindings(deps, usable),
  ])
  return { findings: [...looked.flatMap(({ findings }) => findings), ...more.flat()], usable }
}
