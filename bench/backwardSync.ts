// Backward sync from one execution peer: blocks per second that are fetched by hash, verified, executed and made the head, in comparison with the same blocks
// executed without a network; once with empty blocks, once with blocks of 8 Mgas. The peer is a node in its own process; execution has a thread, as in a node.
// npm run bench -- backwardSync [--blocks 4000] [--rounds 1] [--dir DIR]: a file of full blocks is kept in DIR, and used again from there
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Registry } from 'prom-client'
import { l2RefOf } from '#chainspec/l2Ref'
import { parsePayload } from '#engine/payloadJson'
import { ExecutionPeers } from '#executionPeers/executionPeers'
import { executionPeersMetrics } from '#executionPeers/metrics'
import { type ExecutionWorker, startExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { rpcCall } from '#test/harness/process/cliProcess'
import type { Payload } from '#types/payload'
import { createDenimChain, DenimBlocks, type DenimChain } from './denim/chain.ts'
import { payloadFileOf } from './denim/import.ts'
import { senders } from './denim/senders.ts'
import { type Row, row } from './format.ts'
import { inFolder, startNode } from './rpc/servers.ts'

/** Number of empty blocks; of full ones there are a fifth. */
const defaultBlocks = 4_000
/** Blocks between two moves of the head, as consensus does it. */
const slice = 32

async function payloadsIn(path: string): Promise<readonly Payload[]> {
  const payloads: Payload[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { p, root } = JSON.parse(line) as { readonly p: unknown; readonly root?: Payload['parentBeaconBlockRoot'] }
    payloads.push(parsePayload(p, root))
  }
  return payloads
}

/** Starts execution in a new data directory. */
const startExecution = ({ config, genesis }: DenimChain, datadir: string): Promise<ExecutionWorker> =>
  startExecutionWorker({ clock: systemClock, log: silentLog, genesis }, { dir: join(datadir, 'chain'), config, minFreeBytes: 0 })

/** Executes blocks and makes the last one of each slice the head. */
async function insertAll(execution: ExecutionWorker, { config }: DenimChain, payloads: readonly Payload[]): Promise<void> {
  for (let from = 0; from < payloads.length; from += slice) {
    const some = payloads.slice(from, from + slice)
    for (const payload of some) {
      const { kind } = await execution.insert(payload)
      if (kind !== 'valid') throw new Error(`block ${payload.blockNumber} is ${kind}`)
    }
    const last = some.at(-1)
    if (last) await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, last) })
  }
}

/** Fetches all blocks from a peer, and executes them unless `takes` is a bare fetch. @returns blocks per second */
async function sync(
  chain: DenimChain,
  execution: ExecutionWorker,
  enode: string,
  last: Payload,
  takes: 'blocks' | 'nothing',
): Promise<number> {
  await using peers = await ExecutionPeers.open(
    { clock: systemClock, log: silentLog, metrics: executionPeersMetrics.register(new Registry()), view: () => execution.view() },
    {
      ...{
        config: chain.config,
        identity: new Uint8Array(randomBytes(32)),
        agent: 'bench',
        host: '127.0.0.1',
        port: 0,
        hasDiscovery: false,
      },
      ...{ bootnodes: { v4: [], v5: [] }, staticPeers: [enode], trustedPeers: [], maxPeers: 5 },
    },
  )
  while (peers.count === 0) await systemClock.delay(20)
  const startMs = performance.now()
  let blocks = 0
  const above = { ...last, blockNumber: last.blockNumber + 1, parentHash: last.blockHash }
  for await (const some of peers.ancestors(above, 0, 0, AbortSignal.timeout(240_000))) {
    if (takes === 'blocks') await insertAll(execution, chain, some)
    blocks += some.length
  }
  if (blocks !== last.blockNumber) throw new Error(`${blocks} of ${last.blockNumber} blocks fetched`)
  return (blocks * 1_000) / (performance.now() - startMs)
}

/** Measures one chain, each way in turn. */
async function measure(
  folder: string,
  what: string,
  chain: DenimChain,
  payloads: readonly Payload[],
  rounds: number,
): Promise<readonly Row[]> {
  const last = payloads.at(-1)
  if (last === undefined) throw new Error('no blocks')
  const datadir = join(folder, `${what}-served`)
  {
    await using served = await startExecution(chain, datadir)
    await insertAll(served, chain, payloads)
  }
  const { genesisFile, rollupFile } = chain
  const flags = ['--p2p.execution', 'on', '--p2p.execution.addr', '127.0.0.1', '--p2p.execution.port', '0', '--p2p.execution.no-discovery']
  await using node = await startNode({ folder, genesisFile, rollupFile, datadir }, 0, flags)
  const { enode } = (await rpcCall(node.url, 'admin_nodeInfo')) as { readonly enode: string }
  const [fetched, synced, executed]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const at = (way: string): string => join(folder, `${what}-${way}-${round}`)
    {
      await using execution = await startExecution(chain, at('fetched'))
      fetched.push(await sync(chain, execution, enode, last, 'nothing'))
    }
    {
      await using execution = await startExecution(chain, at('synced'))
      synced.push(await sync(chain, execution, enode, last, 'blocks'))
    }
    await using execution = await startExecution(chain, at('executed'))
    const startMs = performance.now()
    await insertAll(execution, chain, payloads)
    executed.push((payloads.length * 1_000) / (performance.now() - startMs))
  }
  const against = row('executed without network', 'blocks/s', executed)
  return [
    row(`backward sync of ${payloads.length} ${what} blocks: fetched and verified`, 'blocks/s', fetched),
    {
      ...row(`backward sync of ${payloads.length} ${what} blocks: fetched, verified, executed`, 'blocks/s', synced),
      against: { name: against.name, value: against.value, runs: against.runs },
    },
  ]
}

type Options = { readonly blocks?: number; readonly rounds?: number; readonly dir?: string }

export function run({ blocks = defaultBlocks, rounds = 1, dir }: Options): Promise<readonly Row[]> {
  return inFolder('backward-sync', async (folder) => {
    const keep = dir ?? folder
    const chain = createDenimChain(keep, senders)
    const empty: Payload[] = []
    {
      await using made = await chain.open(join(folder, 'builder-empty'))
      const adding = await DenimBlocks.on(chain.config, made)
      while (empty.length < blocks) empty.push(await adding.add())
    }
    const full = await payloadsIn(await payloadFileOf(chain, folder, keep, Math.round(blocks / 5)))
    return [...(await measure(folder, 'empty', chain, empty, rounds)), ...(await measure(folder, 'full', chain, full, rounds))]
  })
}
