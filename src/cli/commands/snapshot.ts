import { join } from 'node:path'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { requireDatabase } from '#database/openChain'
import { aborted } from '#lib/abortable'
import type { Log } from '#lib/log'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import { operatorKey } from '#snapshot/create/operatorKey'
import type { SignedManifest } from '#snapshot/format/manifest'
import {
  listSnapshot,
  type Restored,
  type RestoreProgress,
  type RestoreTarget,
  restoreSnapshot,
  verifySnapshot,
} from '#snapshot/restore/restoreSnapshot'
import { serveSnapshot } from '#snapshot/serveSnapshot'
import { chooseChain } from '../chosenChain.ts'
import type { Command, CommandBody, Io } from '../command.ts'
import { datadirOf } from '../datadir.ts'
import { commandEndLines } from '../endLines.ts'
import { cliFault } from '../faults.ts'
import type { FlagName, FlagValues } from '../flags.ts'
import { openLog } from '../logOutput.ts'
import { createLiveLine, type LiveLine, printResult } from '../output.ts'
import { needed, readFlags } from '../readFlags.ts'
import { shownPlace } from '../secrets.ts'
import { count, size } from '../textLayout.ts'
import { continuing, paceOf } from './datadirCommand.ts'
import { importSnapshot } from './snapshotImport.ts'
import { trustOf } from './snapshotTrustFlags.ts'

const chained = ['network', 'rollup.config', 'genesis', 'json'] as const satisfies readonly FlagName[]
const trusting = ['start.block-hash', 'snapshot.signer', 'trust.require', 'l1.rpc', 'source.l2.rpc'] as const satisfies readonly FlagName[]
type Trusting = Parameters<typeof trustOf>[2] & Partial<FlagValues<'snapshot.signer'>>
const place = { name: 'DIR|URL', doc: 'directory of a snapshot, or URLs of its mirrors, separated by commas' }

/** Returns the chain and the data directory. */
function chainAndDir(given: FlagValues<'network' | 'rollup.config' | 'genesis' | 'datadir'>): {
  readonly config: RollupConfig
  readonly datadir: string
} {
  const { config } = chooseChain(given)
  return { config, datadir: datadirOf(given.datadir, config.l2ChainId) }
}

const deps = (io: Io, onProgress: (progress: RestoreProgress) => void): Parameters<typeof verifySnapshot>[0] => ({
  clock: io.clock,
  fetch,
  signal: io.signal,
  onProgress,
})

/** Shows how much of a snapshot is read. */
function showBytes(io: Io, line: LiveLine, work: string): (progress: RestoreProgress) => void {
  const startMs = io.clock.nowMs()
  let first: RestoreProgress | undefined
  return (progress) => {
    first ??= progress
    const { bytes, bytesBefore, ofBytes, leaves } = progress
    const ms = io.clock.nowMs() - startMs
    const { rate, left } = paceOf(bytes - bytesBefore, ofBytes - bytes, ms)
    const perSecond = (leaves - first.leaves) / Math.max(0.001, ms / 1_000)
    line.show(`${work}  ${size(bytes)}/${size(ofBytes)}  ${size(rate)}/s  ${count(perSecond)} accounts and slots/s  ${left}`)
  }
}

/** Restores a snapshot with the trust that the flags give. */
export async function restoreFrom(
  io: Io,
  log: Log,
  line: LiveLine,
  given: Trusting,
  options: { readonly from: string; readonly config: RollupConfig } & RestoreTarget,
): Promise<Restored> {
  const trust = { ...trustOf(io, log, given, options.config), signer: given['snapshot.signer'] }
  return await restoreSnapshot(deps(io, showBytes(io, line, 'restore')), { ...options, ...trust })
}

/** Returns the directory of recorded proofs that the flags name. */
const proofsDirIn = (config: RollupConfig, path: string | undefined): string | undefined => path && datadirOf(path, config.l2ChainId)

const creating = [
  ...chained,
  'datadir',
  'proofs.path',
  'snapshot.out',
  'snapshot.flavour',
  'snapshot.key',
] as const satisfies readonly FlagName[]

const create: Command = {
  name: 'create',
  doc: 'write a snapshot of the state of the finalized block; a node may run meanwhile; chunks of an earlier snapshot are re-used',
  flags: creating,
  async run(io, raw): Promise<number> {
    const given = readFlags(creating, raw, io.env)
    const out = needed('snapshot.out', given['snapshot.out'])
    const { config, datadir } = chainAndDir(given)
    io.supervisor?.begin(commandEndLines('basalt snapshot create', datadir, given.json ? 'json' : 'pretty'))
    requireDatabase(datadir)
    using line = createLiveLine(io, true)
    const startMs = io.clock.nowMs()
    const onProgress = ({ leaves, ofLeaves }: { readonly leaves: number; readonly ofLeaves: number }): void => {
      const { rate, left } = paceOf(leaves, ofLeaves - leaves, io.clock.nowMs() - startMs)
      line.show(`create  ${count(leaves)}/${count(ofLeaves)} accounts and slots  ${count(rate)}/s  ${left}`)
    }
    const key = operatorKey(given['snapshot.key'] ?? join(datadir, 'snapshot-key.pem'))
    const proofsDir = proofsDirIn(config, given['proofs.path'])
    const options = { chainDir: join(datadir, 'chain'), proofsDir, out, config, flavour: given['snapshot.flavour'], key }
    const made = await createSnapshot({ signal: io.signal, onProgress }, options)
    line.end()
    if (made === undefined) return 130
    const { written, reused, signer } = made
    printResult(io, given.json, { ...factsOf(made), signer, chunks: made.manifest.chunks.length, written, reused })
    return 0
  },
}

/** Facts of a snapshot that every command prints. */
function factsOf({ manifest }: Pick<SignedManifest, 'manifest'>): Readonly<Record<string, string | number>> {
  const { block, accounts, slots, flavour } = manifest
  return { block: block.number, hash: block.hash, stateRoot: block.stateRoot, accounts, slots, flavour }
}

const restoring = [...chained, ...trusting, 'datadir', 'proofs.path'] as const satisfies readonly FlagName[]

const restore: Command = {
  name: 'restore',
  doc: 'load a snapshot into an empty data directory, verified; the same command continues an interrupted one',
  argument: place,
  flags: restoring,
  async run(io, raw, from): Promise<number> {
    const given = readFlags(restoring, raw, io.env)
    const { config, datadir } = chainAndDir(given)
    io.supervisor?.begin(commandEndLines('basalt snapshot restore', datadir, given.json ? 'json' : 'pretty'))
    using line = createLiveLine(io, true)
    const command = continuing(`basalt snapshot restore ${shownPlace(from)}`, given, datadir)
    const log = openLog(io, 'warn', given.json ? 'json' : 'pretty', line)
    const options = { from, datadir, proofsDir: proofsDirIn(config, given['proofs.path']), config, command }
    const restored = await restoreFrom(io, log, line, given, options).catch((error: unknown) => endedOr(io, error))
    line.end()
    if (restored === undefined) return 130
    printResult(io, given.json, restored)
    return 0
  },
}

const verifying = [...chained, ...trusting] as const satisfies readonly FlagName[]

const verify: Command = {
  name: 'verify',
  doc: 'read a whole snapshot and verify every chunk and the state root, without a data directory',
  argument: place,
  flags: verifying,
  async run(io, raw, from): Promise<number> {
    const given = readFlags(verifying, raw, io.env)
    const { config } = chooseChain(given)
    using line = createLiveLine(io, true)
    const log = openLog(io, 'warn', given.json ? 'json' : 'pretty', line)
    const trust = { ...trustOf(io, log, given, config), signer: given['snapshot.signer'] }
    const found = await verifySnapshot(deps(io, showBytes(io, line, 'verify')), { from, config, ...trust }).catch((error: unknown) =>
      endedOr(io, error),
    )
    line.end()
    if (found === undefined) return 130
    printResult(io, given.json, found)
    return 0
  },
}

/** Returns undefined for an error of a command that a signal ended. */
function endedOr(io: Io, error: unknown): undefined {
  if (!io.signal.aborted) throw error
  return undefined
}

const list: Command = {
  name: 'list',
  doc: 'print what a snapshot has, by its manifest; nothing is verified but the signature',
  argument: place,
  flags: ['json'],
  async run(io, raw, from): Promise<number> {
    const given = readFlags(['json'], raw, io.env)
    const known = await listSnapshot({ clock: io.clock, fetch, signal: io.signal }, from)
    const bytes = known.manifest.chunks.reduce((sum, chunk) => sum + chunk.size, 0)
    printResult(io, given.json, { ...factsOf(known), signer: known.signer, chunks: known.manifest.chunks.length, bytes, trust: 'none' })
    return 0
  },
}

const serving = ['snapshot.addr', 'snapshot.port', 'json'] as const satisfies readonly FlagName[]

const serve: Command = {
  name: 'serve',
  doc: 'serve the directory of a snapshot over HTTP until Ctrl-C; any web server or object store does the same',
  argument: { name: 'DIR', doc: 'directory of a snapshot' },
  flags: serving,
  async run(io, raw, dir): Promise<number> {
    const given = readFlags(serving, raw, io.env)
    const port = given['snapshot.port']
    if (port === 'off') throw cliFault('BAD_USAGE', { problem: 'basalt snapshot serve needs a port' })
    await using server = await serveSnapshot(dir, { host: given['snapshot.addr'], port })
    printResult(io, given.json, { url: server.url })
    await aborted(io.signal)
    return 0
  },
}

export const snapshot: CommandBody = {
  flags: [],
  commands: [create, restore, importSnapshot, verify, list, serve],
  run: () =>
    Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt snapshot needs a command: create, restore, import, verify, list or serve' })),
}
