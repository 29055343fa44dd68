import { join } from 'node:path'
import type { ParsedGenesis } from '#chainspec/genesisJson'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { importFile } from '#node/importFile'
import type { MemoryOptions } from '#node/nodeOptions'
import type { ChainDistance, Retention } from '#types/chainDistance'
import { readGenesisFile } from '../chosenChain.ts'
import type { CommandBody } from '../command.ts'
import { datadirOf } from '../datadir.ts'
import { commandEndLines } from '../endLines.ts'
import { cliFault } from '../faults.ts'
import { readFileLines } from '../files.ts'
import { type FlagName, flags } from '../flags.ts'
import { openLog } from '../logOutput.ts'
import { memoryOf, retentionOf } from '../nodeOptions.ts'
import { createLiveLine, printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'

const names = [
  'genesis',
  'datadir',
  'retain.history',
  'proofs-history',
  'proofs-history.window',
  'proofs.path',
  'memory-max',
  'cache',
  'log.level',
  'log.format',
  'json',
] as const satisfies readonly FlagName[]

export const importBlocks: CommandBody = {
  argument: {
    name: 'FILE',
    doc: 'JSON lines of {"p": execution payload, "root": parent beacon block root}, in zstd if its name ends in .zst; -: standard input',
  },
  flags: names,
  async run(io, raw, path): Promise<number> {
    const given = readFlags(names, raw, io.env)
    if (given.genesis === undefined)
      throw cliFault('MISSING_FLAG', { flag: 'genesis', variable: flags.genesis.env, doc: flags.genesis.doc })
    const { genesis, warnings } = readGenesisFile(given.genesis)
    const ofChain = (dir: string): string => (genesis.chain === undefined ? dir : datadirOf(dir, genesis.chain.chainId))
    const datadir = ofChain(given.datadir)
    io.supervisor?.begin(commandEndLines('basalt import', datadir, given['log.format']))
    using line = createLiveLine(io, given['log.format'] === 'pretty')
    const log = openLog(io, given['log.level'], given['log.format'], line)
    for (const warning of warnings) log.warn('unknown entry in the genesis file', { warning })

    const startMs = io.clock.nowMs()
    const show = (text: string): void => line.show(text)
    const to = {
      clock: io.clock,
      log,
      startMs,
      show,
      genesis,
      datadir,
      retention: retentionOf(given),
      memory: memoryOf(given),
      ...(given['proofs-history'] && {
        proofs: { dir: ofChain(given['proofs.path'] ?? join(datadir, 'proofs')), window: given['proofs-history.window'] },
      }),
      signal: io.signal,
    }
    const { imported, skipped, gas, head } = await importPayloadsFrom(path, to)
    line.end()
    const seconds = secondsSince(io.clock, startMs)
    printResult(io, given.json, {
      imported,
      alreadyThere: skipped,
      head: head.number,
      hash: head.hash,
      gas: Number(gas),
      seconds: Number(seconds.toFixed(3)),
      megagasPerSecond: Number((Number(gas) / 1e6 / seconds).toFixed(1)),
    })
    return io.signal.aborted ? 130 : 0
  },
}

type Destination = {
  readonly clock: Clock
  readonly log: Log
  readonly startMs: number
  readonly show: (text: string) => void
  readonly genesis: ParsedGenesis['genesis']
  readonly datadir: string
  readonly retention: Retention
  readonly memory: MemoryOptions
  readonly proofs?: { readonly dir: string; readonly window: ChainDistance | 'all' }
  readonly signal: AbortSignal
}

const secondsSince = (clock: Clock, startMs: number): number => Math.max(0.001, (clock.nowMs() - startMs) / 1000)

function importPayloadsFrom(path: string, to: Destination): ReturnType<typeof importFile> {
  const { clock, log, startMs, show, signal, ...where } = to
  const { lines, readShare } = readFileLines(path)
  let [blocks, gas] = [0, 0n]
  const onBlock = (payload: { readonly blockNumber: number; readonly gasUsed: bigint }, part: number): void => {
    blocks++
    gas += payload.gasUsed
    const seconds = secondsSince(clock, startMs)
    const share = readShare()
    const left = share === undefined ? '' : `  ${Math.ceil(seconds / (share * part) - seconds)} s left`
    show(`block ${payload.blockNumber}  ${blocks} blocks  ${(Number(gas) / 1e6 / seconds).toFixed(1)} Mgas/s${left}`)
  }
  return importFile({ clock, log, onBlock, signal }, { ...where, lines })
}
