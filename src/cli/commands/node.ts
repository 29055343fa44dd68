import { startNode } from '#node/node'
import { chooseChain } from '../chosenChain.ts'
import type { Command } from '../command.ts'
import { cliFault } from '../faults.ts'
import { type FlagName, flags, readFlags } from '../flags.ts'
import { createLiveLine, openLog } from '../output.ts'
import { showProgress } from '../progress.ts'
import { aborted } from '../signal.ts'
import { packageVersion } from './version.ts'

const host = '127.0.0.1'

const names = [
  'network',
  'rollup.config',
  'genesis',
  'datadir',
  'l1.rpc',
  'l1.beacon',
  'l1.poll-interval',
  'http.port',
  'ws.port',
  'authrpc.port',
  'rollup.port',
  'p2p.disable',
  'log.level',
  'log.format',
] as const satisfies readonly FlagName[]

export const node: Command = {
  name: 'node',
  doc: 'derive a chain from L1, execute it, serve it',
  flags: names,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const l1RpcUrls = given['l1.rpc']
    if (l1RpcUrls === undefined) throw cliFault('MISSING_FLAG', { flag: 'l1.rpc', doc: flags['l1.rpc'].doc })
    const chain = chooseChain(given)
    using line = createLiveLine(io, given['log.format'] === 'pretty')
    const log = openLog(io, given['log.level'], given['log.format'], line)
    for (const warning of chain.warnings) log.warn(warning)
    if (given['l1.beacon'] === undefined) log.warn('no --l1.beacon: the node stops at the first L1 block whose blobs it needs')

    const { clock } = io
    await using running = await startNode(
      { clock, random: Math.random, fetch, log },
      {
        mode: 'all',
        config: chain.config,
        genesis: () => chain.genesis,
        datadir: given.datadir,
        version: packageVersion(),
        l1: { rpcUrls: l1RpcUrls, beaconUrls: given['l1.beacon'] ?? [], pollMs: given['l1.poll-interval'] },
        listen: { http: { host, port: given['http.port'] }, rollup: { host, port: given['rollup.port'] } },
        isAdminOn: false,
        readyMaxLagSec: 30,
        minFreeBytes: 2_000_000_000,
      },
    )
    log.info('node started', { chain: chain.name, rpc: running.urls.http, rollup: running.urls.rollup, datadir: given.datadir })
    using _progress = showProgress(clock, line, running)
    const isToStop = aborted(io.signal)
    await Promise.race([running.stopped.then(() => isToStop), isToStop])
    line.end()
    log.info('node stops', {})
    return 0
  },
}
