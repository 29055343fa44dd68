import { endpointOf } from '#lib/endpoint'
import { addressField, listOf, objectOf } from '#types/jsonShape'
import type { CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import { type FlagName, flags } from '../../flags.ts'
import { addressFlags, nodeAddressOf } from '../../localNode/nodeAddress.ts'
import { NodeClient } from '../../localNode/nodeClient.ts'
import { sendByHttp } from '../../localNode/sendByHttp.ts'
import { readFlags } from '../../readFlags.ts'
import { l1AttributesOf } from '../lookup/l1Attributes.ts'
import { readBlobs } from './daBlobs.ts'
import { daFacts, ownTransactions } from './daFacts.ts'
import { readL1Window, readL2Window, readOne } from './daReads.ts'
import { daText } from './daView.ts'

const names = [...addressFlags, 'l1.rpc', 'l1.beacon', 'l1.slot-seconds', 'da.blocks', 'json'] as const satisfies readonly FlagName[]

type Rollup = { readonly client: NodeClient; readonly inbox: string; readonly batcher: string }

/** Returns the first endpoint that serves the rollup RPC, with the inbox and the first batcher of its chain. */
async function rollupOf(clients: readonly NodeClient[]): Promise<Rollup> {
  let failure: unknown
  for (const client of clients) {
    try {
      const call = { method: 'optimism_rollupConfig', params: [] }
      const chain = await readOne(client, 'the rollup config', call, (config) => ({
        inbox: addressField(config, 'batch_inbox_address'),
        batcher: addressField(objectOf(objectOf(config['genesis'], 'genesis')['system_config'], 'system_config'), 'batcherAddr'),
      }))
      return { client, ...chain }
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

/** Returns the batcher that the newest safe block names: the system config may have changed it since the genesis. */
async function currentBatcher(node: NodeClient): Promise<string | undefined> {
  const call = { method: 'eth_getBlockByNumber', params: ['safe', true] }
  const info = await readOne(node, 'the safe block', call, (block) => ({
    batcher: l1AttributesOf(listOf(block['transactions'], 'transactions'))?.batcher,
  }))
  return info.batcher
}

export const da: CommandBody = {
  flags: names,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const [l1Url] = given['l1.rpc'] ?? []
    if (l1Url === undefined) throw cliFault('MISSING_FLAG', { flag: 'l1.rpc', variable: flags['l1.rpc'].env, doc: flags['l1.rpc'].doc })
    const deps = { fetch: sendByHttp, clock: io.clock, signal: io.signal }
    const address = nodeAddressOf(given, io.env)
    const node = new NodeClient(deps, address.rpc)
    const pages = address.pages.map((page) => new NodeClient(deps, endpointOf(new URL('/', page))))
    const { client: rollup, inbox, batcher: first } = await rollupOf([...pages.toReversed(), node])
    const batcher = (await currentBatcher(node)) ?? first
    const window = await readL1Window(new NodeClient(deps, endpointOf(new URL(l1Url))), inbox, given['da.blocks'])
    const [beaconUrl] = given['l1.beacon'] ?? []
    const blobs =
      beaconUrl === undefined
        ? undefined
        : await readBlobs(
            { deps, endpoint: endpointOf(new URL(beaconUrl)), signal: io.signal },
            ownTransactions(window, batcher),
            given['l1.slot-seconds'],
          )
    const facts = daFacts(inbox, batcher, window, await readL2Window(node, rollup, window), blobs)
    io.out.write(given.json ? `${JSON.stringify(facts)}\n` : daText(facts))
    return exitCodes.done
  },
}
