import { type Demo, startDemo } from '#devnet/demo'
import { aborted } from '#lib/abortable'
import type { CommandBody, Io } from '../command.ts'
import { cliFault } from '../faults.ts'
import type { FlagName, FlagValues, RawFlags } from '../flags.ts'
import { openLog } from '../logOutput.ts'
import { createLiveLine } from '../output.ts'
import { showProgress } from '../progress.ts'
import { readFlags } from '../readFlags.ts'
import { packageVersion } from './version.ts'

/** The recorded L1 has many invalid batches: the default level hides the line for each. */
const quietLevel = 'error'

const names = ['http.port', 'rollup.port', 'log.level', 'log.format', 'json'] as const satisfies readonly FlagName[]

type Example = { readonly about: string; readonly url: string; readonly method: string; readonly params: readonly unknown[] }

/** Requests that the finished demo answers. */
function exampleRequests({ chain, urls }: Pick<Demo, 'chain' | 'urls'>): readonly Example[] {
  const token = chain.contracts['TOKEN']
  return [
    { about: 'the newest block', url: urls.http, method: 'eth_getBlockByNumber', params: ['latest', false] },
    {
      about: 'a balance as of block 40',
      url: urls.http,
      method: 'eth_getBalance',
      params: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x28'],
    },
    {
      about: 'a token transfer',
      url: urls.http,
      method: 'eth_getLogs',
      params: [{ fromBlock: '0x0', toBlock: 'latest', address: token }],
    },
    {
      about: 'a token balance',
      url: urls.http,
      method: 'eth_call',
      params: [{ to: token, data: `0x70a08231${'70997970C51812dc3A010C7d01b50e0d17dc79C8'.padStart(64, '0')}` }, 'latest'],
    },
    { about: 'the heads derived from L1', url: urls.rollup, method: 'optimism_syncStatus', params: [] },
  ]
}

const asCurl = ({ about, url, method, params }: Example): string =>
  `  # ${about}\n  curl -s ${url} -H 'content-type: application/json' -d '${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}'\n`

function report(io: Io, asJson: boolean, demo: Demo, blocks: number, seconds: number): void {
  const { chain, urls } = demo
  if (asJson) {
    io.out.write(`${JSON.stringify({ blocks, equal: true, clients: chain.clients, seconds, ...urls, examples: exampleRequests(demo) })}\n`)
    return
  }
  io.out.write(`\n${blocks} blocks derived, all hashes equal those of ${chain.clients} (${seconds.toFixed(1)} s)\n\n`)
  io.out.write(`JSON-RPC  ${urls.http}\nrollup    ${urls.rollup}\n\n`)
  for (const example of exampleRequests(demo)) io.out.write(asCurl(example))
  io.out.write('\nCtrl-C stops; no data is kept.\n')
}

type PortFlag = 'http.port' | 'rollup.port'

/** Returns a port other than `off`: the demo needs both servers. @throws Fault BAD_FLAG (fatal) */
function servedPort(flag: PortFlag, given: FlagValues<PortFlag>): number {
  const port = given[flag]
  if (port === 'off') throw cliFault('BAD_FLAG', { flag, value: port, expected: 'an integer from 0 to 65535' })
  return port
}

const defined = (raw: RawFlags): RawFlags => Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined))

export const demo: CommandBody = {
  flags: names,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, { 'log.level': io.env['BASALT_LOG_LEVEL'] ?? quietLevel, ...defined(raw) }, io.env)
    using line = createLiveLine(io, given['log.format'] === 'pretty')
    const log = openLog(io, given['log.level'], given['log.format'], line)
    const startMs = io.clock.nowMs()
    await using running = await startDemo(
      { clock: io.clock, random: Math.random, fetch, log },
      { httpPort: servedPort('http.port', given), rollupPort: servedPort('rollup.port', given), version: packageVersion() },
    )
    {
      using _progress = showProgress(io.clock, line, running.node)
      await running.derived(io.signal)
    }
    line.end()
    if (io.signal.aborted) return 0
    const different = running.difference()
    if (different) {
      const { number, expected, found } = different
      io.err.write(`basalt: block ${number} is ${found ?? 'missing'}, ${running.chain.clients} have ${expected}\n`)
      return 1
    }
    report(io, given.json, running, running.chain.blocks.length - 1, (io.clock.nowMs() - startMs) / 1000)
    await Promise.race([running.node.stopped, aborted(io.signal)])
    return 0
  },
}
