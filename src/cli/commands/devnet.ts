import { existsSync } from 'node:fs'
import type { Difference } from '#devnet/agreement'
import { devnetForks } from '#devnet/forkSchedule'
import type { DevnetOptions, DevnetPorts } from '#devnet/options'
import { type Devnet, startDevnetWith } from '#devnet/startDevnet'
import { aborted } from '#lib/abortable'
import type { CommandBody, Io } from '../command.ts'
import { datadirOf } from '../datadir.ts'
import { banner, startedEvent } from '../devnet/banner.ts'
import { watchStatus } from '../devnet/watch.ts'
import { cliFault } from '../faults.ts'
import { readJsonFile } from '../files.ts'
import { type FlagName, type FlagValues, flags, type RawFlags } from '../flags.ts'
import { openLog } from '../logOutput.ts'
import { retentionOf } from '../nodeOptions.ts'
import { createLiveLine } from '../output.ts'
import { readFlags } from '../readFlags.ts'
import { devnetCommands } from './devnetCommands.ts'

/** The components log every deliberate fault of a devnet: the default level hides those lines. */
const quietLevel = 'error'
/** Exit code when the nodes disagree. */
const disagreementCode = 3
const defaultChainId = 901

const names = [
  'chain-id',
  'block-time',
  'l1-block-time',
  'fork',
  'accounts',
  'nodes',
  'mnemonic',
  'l1',
  'datadir',
  'data-availability',
  'retain.history',
  'http.port',
  'ws.port',
  'rollup.port',
  'l1.port',
  'verifier.port',
  'verifier.ws-port',
  'publisher.port',
  'control.port',
  'quiet',
  'json',
  'log.level',
  'log.format',
] as const satisfies readonly FlagName[]
type Given = FlagValues<(typeof names)[number]>

const portFlags = {
  rpc: 'http.port',
  ws: 'ws.port',
  rollup: 'rollup.port',
  l1: 'l1.port',
  verifier: 'verifier.port',
  verifierWs: 'verifier.ws-port',
  control: 'control.port',
} as const satisfies Readonly<Record<Exclude<keyof DevnetPorts, 'flashblocks'>, FlagName>>

/** @throws Fault BAD_FLAG (fatal) when a port other than the publisher's is off */
function portsOf(given: Given): DevnetPorts {
  const entries = Object.entries(portFlags).map(([part, flag]) => {
    const port = given[flag]
    if (port === 'off') throw cliFault('BAD_FLAG', { flag, value: port, expected: 'an integer from 0 to 65535' })
    return [part, port] as const
  })
  const flashblocks = given['publisher.port']
  return { ...Object.fromEntries(entries), ...(flashblocks !== 'off' && { flashblocks }) }
}

/** Returns the fork's name, or the content of a file. A word that is neither a fork nor a file counts as a name. */
function forkOf(text: string): NonNullable<DevnetOptions['fork']> {
  if ((devnetForks as readonly string[]).includes(text) || (/^\w+$/.test(text) && !existsSync(text))) return text
  return readJsonFile(text) as Readonly<Record<string, number>>
}

/** Returns the directory of --datadir on the command line only: a directory of the environment belongs to a node. */
const keptIn = (given: Given, raw: RawFlags): string | undefined =>
  raw['datadir'] === undefined ? undefined : datadirOf(given.datadir, given['chain-id'] ?? defaultChainId)

function optionsOf(given: Given, datadir: string | undefined): DevnetOptions {
  const { accounts, nodes, mnemonic, fork, l1 = 'anvil', 'data-availability': dataAvailability } = given
  const { 'chain-id': chainId, 'block-time': blockMs, 'l1-block-time': slotMs } = given
  return {
    l1,
    ports: portsOf(given),
    retention: retentionOf(given),
    ...(given['publisher.port'] === 'off' && { flashblocks: false }),
    ...(chainId !== undefined && { chainId }),
    ...(blockMs !== undefined && { blockTimeSec: blockMs / 1_000 }),
    ...(slotMs !== undefined && { l1BlockTimeSec: slotMs / 1_000 }),
    ...(accounts !== undefined && { accounts }),
    ...(nodes !== undefined && { nodes }),
    ...(mnemonic !== undefined && { mnemonic }),
    ...(fork !== undefined && { fork: forkOf(fork) }),
    ...(datadir !== undefined && { datadir }),
    ...(dataAvailability !== undefined && { dataAvailability }),
  }
}

const defined = (raw: RawFlags): RawFlags => Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined))

function reportDisagreement(io: Io, asJson: boolean, difference: Difference): void {
  if (asJson) io.out.write(`${JSON.stringify({ event: 'disagreement', ...difference })}\n`)
  const { number, sequencer, verifier } = difference
  io.err.write(`basalt: the verifier disagrees at block ${number}: sequencer ${sequencer}, verifier ${verifier}\n`)
}

/**
 * Runs until it is interrupted or ends by itself. A disagreement ends it without a terminal; on a terminal it keeps serving until Ctrl-C.
 * @returns the exit code
 * @throws the fault of a part that failed
 */
async function untilEnd(io: Io, asJson: boolean, devnet: Devnet): Promise<number> {
  const isToStop = aborted(io.signal)
  const end = await Promise.race([devnet.ended, isToStop])
  if (end === undefined) return 0
  if (end.kind === 'fault') throw end.fault
  reportDisagreement(io, asJson, end.difference)
  if (io.err.isTerminal) await isToStop
  return disagreementCode
}

export const devnet: CommandBody = {
  flags: names,
  commands: devnetCommands,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, { 'log.level': io.env[flags['log.level'].env] ?? quietLevel, ...defined(raw) }, io.env)
    using line = createLiveLine(io, given['log.format'] === 'pretty')
    const log = openLog(io, given['log.level'], given['log.format'], line)
    const options = optionsOf(given, keptIn(given, raw))
    await using running = await startDevnetWith({ clock: io.clock, random: Math.random, fetch, log, signal: io.signal }, options)
    if (given.json) io.out.write(`${JSON.stringify(startedEvent(running))}\n`)
    else io.out.write(banner(running))
    using _watch = watchStatus(io, line, running, given.quiet ? 'quiet' : given.json ? 'events' : 'line')
    const code = await untilEnd(io, given.json, running)
    line.end()
    return code
  },
}
