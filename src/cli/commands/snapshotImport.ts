import { importRethSnapshot } from '#node/importRethSnapshot'
import { chooseChain } from '../chosenChain.ts'
import type { Command, Io } from '../command.ts'
import { datadirOf } from '../datadir.ts'
import { commandEndLines } from '../endLines.ts'
import type { FlagName } from '../flags.ts'
import { openLog } from '../logOutput.ts'
import { createLiveLine, type LiveLine, printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'
import { shownPlace } from '../secrets.ts'
import { count, size } from '../textLayout.ts'
import { continuing, paceOf } from './datadirCommand.ts'
import { trustOf } from './snapshotTrustFlags.ts'

const names = [
  'network',
  'rollup.config',
  'genesis',
  'datadir',
  'snapshot.format',
  'start.block-hash',
  'trust.require',
  'l1.rpc',
  'source.l2.rpc',
  'log.level',
  'log.format',
  'json',
] as const satisfies readonly FlagName[]

type Progress = Parameters<Parameters<typeof importRethSnapshot>[0]['onProgress']>[0]

/** Shows the bytes of an archive, or the rows of the state, with rate and time left. */
function showProgress(io: Io, line: LiveLine): (progress: Progress) => void {
  let first: { readonly phase: Progress['phase']; readonly done: number; readonly startMs: number } | undefined
  return (progress) => {
    const isLoad = progress.phase === 'load'
    const [done, total] = isLoad ? [progress.rows, progress.totalRows] : [progress.bytes, progress.totalBytes]
    const nowMs = io.clock.nowMs()
    if (first?.phase !== progress.phase || done < first.done) first = { phase: progress.phase, done, startMs: nowMs }
    const { rate, left } = paceOf(done - first.done, total - done, nowMs - first.startMs)
    const text = isLoad ? (value: number): string => `${count(value)} rows` : size
    line.show(`${progress.phase}  ${text(done)} of ${text(total)}  ${text(rate)}/s  ${left}`)
  }
}

export const importSnapshot: Command = {
  name: 'import',
  doc: "load the state of another client's snapshot into an empty data directory; the same command continues an interrupted import",
  argument: { name: 'DIR|URL', doc: 'folder or URL of a manifest.json with its archives, or an unpacked data directory of that client' },
  flags: names,
  async run(io, raw, source): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const { config } = chooseChain(given)
    const datadir = datadirOf(given.datadir, config.l2ChainId)
    io.supervisor?.begin(commandEndLines('basalt snapshot import', datadir, given['log.format']))
    using line = createLiveLine(io, given['log.format'] === 'pretty')
    const log = openLog(io, given['log.level'], given['log.format'], line)
    const command = continuing(`basalt snapshot import ${shownPlace(source)} --format ${given['snapshot.format']}`, given, datadir)
    const deps = { fetch, clock: io.clock, random: Math.random, log, signal: io.signal, onProgress: showProgress(io, line) }
    const options = { source, datadir, config, ...trustOf(io, log, given, config), l2Url: given['source.l2.rpc'], command }
    const imported = await importRethSnapshot(deps, options).catch((error: unknown) => {
      if (!io.signal.aborted) throw error
      return undefined
    })
    line.end()
    if (imported === undefined) return 130
    const { number: block, ...facts } = imported
    printResult(io, given.json, { block, ...facts })
    return 0
  },
}
