import { endpointOf } from '#lib/endpoint'
import { signJwt } from '#lib/jwt'
import type { NodeOptions } from '#node/nodeOptions'
import { spanText } from '../textLayout.ts'
import type { Finding } from './finding.ts'
import { blockOf, type CallProbe, endpointsOf, numberOf, type ProbeDeps, probe, probeBlock, probeCall, refusalText } from './probe.ts'

/** Age of the head of a followed node at which it has stopped to follow its chain. */
const staleSec = 60

type Named = { readonly flag: string; readonly role: string }

function deadFinding({ flag, role }: Named, name: string, answer: CallProbe): Finding {
  return {
    level: 'error',
    where: `${flag} ${name}`,
    what: `the ${role} does not answer: ${refusalText(answer)}`,
    fix: 'check the URL and the network, or name another endpoint',
  }
}

/** Checks another node of the chain: reachable, same chain, fresh head. */
async function checkNode(deps: ProbeDeps, named: Named, url: string, chainId: number, isFollowed: boolean): Promise<readonly Finding[]> {
  const [endpoint] = endpointsOf([url.split(',')[0] ?? url])
  if (endpoint === undefined) return []
  const [chain, latest] = await Promise.all([probeCall(deps, endpoint, 'eth_chainId'), probeBlock(deps, endpoint, 'latest')])
  if (chain.kind !== 'result') return [deadFinding(named, endpoint.name, chain)]
  const where = `${named.flag} ${endpoint.name}`
  const id = numberOf(chain.result)
  if (id !== chainId) {
    return [
      {
        level: 'error',
        where,
        what: `its chain id is ${id ?? 'malformed'}, expected ${chainId}`,
        fix: `name a ${named.role} of this chain`,
      },
    ]
  }
  const head = blockOf(latest)
  const ageSec = head && deps.clock.nowMs() / 1_000 - head.timestamp
  if (!isFollowed || ageSec === undefined || ageSec <= staleSec) return []
  return [{ level: 'warning', where, what: `its head is ${spanText(ageSec)} old`, fix: 'it does not follow its chain: name another node' }]
}

/** Checks the execution half of a consensus half: reachable, with the same secret, of the same chain. */
async function checkEngine(deps: ProbeDeps, { config, engine, jwtSecret }: NodeOptions): Promise<readonly Finding[]> {
  if (engine === undefined || jwtSecret === undefined) return []
  const { name, url, headers } = endpointOf(new URL(engine.url))
  const where = `--engine ${name}`
  const authorization = `Bearer ${signJwt(jwtSecret(), Math.floor(deps.clock.nowMs() / 1_000))}`
  const answer = await probeCall(deps, { name, url, headers: { ...headers, authorization } }, 'eth_chainId')
  if (answer.kind === 'refused' && (answer.status === 401 || answer.status === 403)) {
    const what = `the execution half refuses the secret of the Engine API (HTTP ${answer.status})`
    return [
      {
        level: 'error',
        where,
        what,
        fix: 'give both halves the same --jwt file, or the same --jwt.secret; check the clocks of both machines',
      },
    ]
  }
  if (answer.kind !== 'result') return [deadFinding({ flag: '--engine', role: 'execution half' }, name, answer)]
  const id = numberOf(answer.result)
  if (id === config.l2ChainId) return []
  return [
    {
      level: 'error',
      where,
      what: `its chain id is ${id ?? 'malformed'}, expected ${config.l2ChainId}`,
      fix: 'start both halves with the same --network',
    },
  ]
}

/** Checks publishers of flashblocks by the answer to a plain request: a WebSocket server refuses it, but answers. */
async function checkPublisher(deps: ProbeDeps, url: string): Promise<readonly Finding[]> {
  const [endpoint] = endpointsOf([url])
  if (endpoint === undefined) return []
  const answer = await probe(deps, endpoint)
  if (answer.kind === 'answer' && answer.status < 500 && answer.status !== 404) return []
  const reason = answer.kind === 'silent' ? answer.reason : `HTTP ${answer.status}`
  return [
    {
      level: 'warning',
      where: `--flashblocks.url ${endpoint.name}`,
      what: `the publisher of flashblocks does not answer: ${reason}`,
      fix: 'check the URL; without it pending is latest',
    },
  ]
}

/** Checks the other nodes that a node uses. */
export async function checkPeers(deps: ProbeDeps, options: NodeOptions): Promise<readonly Finding[]> {
  const { config, source, sequencerUrl, flashblocks } = options
  const found = await Promise.all([
    source ? checkNode(deps, { flag: '--source.l2.rpc', role: 'followed node' }, source.url, config.l2ChainId, true) : [],
    sequencerUrl === undefined
      ? []
      : checkNode(deps, { flag: '--sequencer.http', role: 'sequencer' }, sequencerUrl, config.l2ChainId, false),
    checkEngine(deps, options),
    ...(flashblocks?.urls ?? []).map((url) => checkPublisher(deps, url)),
  ])
  return found.flat()
}
