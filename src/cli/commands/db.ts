import { compactDatabase } from '#database/compact'
import { exportBlocks } from '#database/exportBlocks'
import { migrateDatabase } from '#database/migrate'
import { type PruneResult, pruneDatabase } from '#database/prune'
import { type DatadirStats, datadirStats } from '#database/stats'
import { type VerifyProgress, type VerifyResult, verifyDatabase } from '#database/verify'
import type { Command, CommandBody, Io } from '../command.ts'
import { commandEndLines } from '../endLines.ts'
import { cliFault } from '../faults.ts'
import { createTextFile } from '../files.ts'
import { type FlagName, type FlagValues, flags } from '../flags.ts'
import { createLiveLine, faultLine, printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'
import { count, size } from '../textLayout.ts'
import { directoryOf, located, paceOf, showBlocks } from './datadirCommand.ts'
import { importBlocks } from './import.ts'

/** Returns the data directory, and has the parent process report an end of this one by a signal. @throws Fault as of `directoryOf` */
function supervisedDirectory(io: Io, command: string, given: FlagValues<'datadir' | 'network' | 'json'>): string {
  const datadir = directoryOf(given)
  io.supervisor?.begin(commandEndLines(`basalt db ${command}`, datadir, given.json ? 'json' : 'pretty'))
  return datadir
}

function statsText(stats: DatadirStats): string {
  const { chain, consensus, journals, blocks, segments, growth } = stats
  const lines: string[] = []
  for (const [store, environment] of [['chain', chain] as const, ['consensus', consensus] as const]) {
    if (environment === undefined) continue
    lines.push(`${store}: ${size(environment.fileBytes)}, of which ${size(environment.freeBytes)} free pages`)
    lines.push(`  ${'table'.padEnd(14)}${'rows'.padStart(16)}${'bytes'.padStart(12)}${'per block'.padStart(12)}${'per day'.padStart(12)}`)
    for (const { name, rows, bytes } of environment.tables) {
      const grown = store === 'chain' ? growth.find(({ table }) => table === name) : undefined
      const rate = grown ? size(grown.bytesPerBlock).padStart(12) + size(grown.bytesPerDay).padStart(12) : ''
      lines.push(`  ${name.padEnd(14)}${count(rows).padStart(16)}${size(bytes).padStart(12)}${rate}`)
    }
  }
  for (const { table, files, first, last, fileBytes, rowBytes } of segments)
    lines.push(`segments of ${table}: ${count(files)} files, blocks ${first} to ${last}, ${size(fileBytes)} for rows of ${size(rowBytes)}`)
  for (const { name, bytes } of journals) lines.push(`journal of ${name}: ${size(bytes)}`)
  lines.push(
    `blocks: ${count(blocks.stored)} stored, ${blocks.oldest} to ${blocks.head}; oldest state: block ${blocks.oldestState}, oldest proof: block ${blocks.oldestProof}`,
  )
  lines.push(`blocks per day: ${blocks.perDay === undefined ? 'unknown, too few blocks' : count(blocks.perDay)}`)
  const full = stats.daysUntilFull === undefined ? 'unknown' : `${stats.daysUntilFull.toFixed(1)} days`
  lines.push(`growth: ${size(stats.bytesPerDay)} per day; free on the disk: ${size(stats.diskFreeBytes)}; full in: ${full}`)
  lines.push(`basis: ${stats.basis}`)
  return `${lines.join('\n')}\n`
}

const stats: Command = {
  name: 'stats',
  doc: 'print bytes and rows of each table, growth per day and the days until the disk is full; a node may run meanwhile',
  flags: located,
  async run(io, raw): Promise<number> {
    const given = readFlags(located, raw, io.env)
    const found = await datadirStats(supervisedDirectory(io, 'stats', given))
    io.out.write(given.json ? `${JSON.stringify(found)}\n` : statsText(found))
    return 0
  },
}

const verifying = [...located, 'verify.restart'] as const satisfies readonly FlagName[]

const verify: Command = {
  name: 'verify',
  doc: 'compare all rows of the database with their hashes and roots; exit code 1 when a row is damaged; a node may run meanwhile',
  flags: verifying,
  async run(io, raw): Promise<number> {
    const given = readFlags(verifying, raw, io.env)
    using line = createLiveLine(io, true)
    const startMs = io.clock.nowMs()
    const onProgress = ({ phase, rows, earlier, total }: VerifyProgress): void => {
      const { rate, left } = paceOf(rows - earlier, total - rows, io.clock.nowMs() - startMs)
      line.show(`verify ${phase}  ${count(rows)}/${count(total)} rows  ${count(rate)} rows/s  ${left}`)
    }
    const onNotSaved = (error: unknown): void => line.above(faultLine(error))
    const options = { datadir: supervisedDirectory(io, 'verify', given), restart: given['verify.restart'] }
    const result = await verifyDatabase({ clock: io.clock, signal: io.signal, onProgress, onNotSaved }, options)
    line.end()
    io.out.write(given.json ? `${JSON.stringify(result)}\n` : verifyText(result))
    if (result.found > 0) return 1
    return result.done ? 0 : 130
  },
}

function verifyText({ done, saved, resumed, head, checked, found, differences }: VerifyResult): string {
  const lines = differences.map(
    ({ table, key, expected, found: instead, remedy }) => `${table} ${key}: expected ${expected}; found ${instead}. ${remedy}`,
  )
  if (found > differences.length) lines.push(`and ${count(found - differences.length)} more`)
  const rows = [
    `${count(checked.state)} accounts and slots, ${count(checked.code)} codes, ${count(checked.files)} segment files, ${count(checked.blocks)} blocks`,
    `${count(checked.hashes + checked.transactions)} positions by hash, ${count(checked.history)} blocks undone`,
    `${count(checked.index)} rows of the history index, ${count(checked.logs)} blocks of the log index`,
  ].join(', ')
  lines.push(`checked: ${rows}, up to block ${head.number}${resumed ? ', with those of the interrupted verification' : ''}`)
  if (!done) lines.push(`interrupted: the same command ${saved ? 'continues' : 'starts over'}`)
  lines.push(found > 0 ? `damaged: ${count(found)} differences` : done ? 'no differences' : 'no differences so far')
  return `${lines.join('\n')}\n`
}

const compact: Command = {
  name: 'compact',
  doc: 'rewrite the database without its free pages; the node must be stopped, and the disk needs room for the copy, which an interruption does not end before it is complete',
  flags: located,
  async run(io, raw): Promise<number> {
    const given = readFlags(located, raw, io.env)
    using line = createLiveLine(io, true)
    const startMs = io.clock.nowMs()
    const onProgress = (bytes: number, ofBytes: number): void => {
      const { rate, left } = paceOf(bytes, ofBytes - bytes, io.clock.nowMs() - startMs)
      line.show(`compact  ${size(bytes)}/${size(ofBytes)}  ${size(rate)}/s  ${io.signal.aborted ? 'ends when the copy is complete' : left}`)
    }
    const sizes = await compactDatabase({ clock: io.clock, signal: io.signal, onProgress }, supervisedDirectory(io, 'compact', given))
    line.end()
    if (sizes === undefined) return 130
    if (given.json) printResult(io, true, sizes)
    else printResult(io, false, { before: size(sizes.bytesBefore), after: size(sizes.bytesAfter) })
    return 0
  },
}

const pruning = [...located, 'prune.keep'] as const satisfies readonly FlagName[]

const prune: Command = {
  name: 'prune',
  doc: 'remove the states that are older than --prune.keep; the node must be stopped; the file keeps its size for new data',
  flags: pruning,
  async run(io, raw): Promise<number> {
    const given = readFlags(pruning, raw, io.env)
    const { env: variable, doc } = flags['prune.keep']
    const kept = given['prune.keep']
    if (kept === undefined) throw cliFault('MISSING_FLAG', { flag: 'prune.keep', variable, doc })
    using line = createLiveLine(io, true)
    const onProgress = showBlocks(io.clock, line, 'prune')
    const result = await pruneDatabase({ clock: io.clock, signal: io.signal, onProgress }, supervisedDirectory(io, 'prune', given), kept)
    line.end()
    io.out.write(given.json ? `${JSON.stringify(result)}\n` : pruneText(result))
    return result.done ? 0 : 130
  },
}

function pruneText({ done, oldestStateBefore, oldestState, finalized, head, isHeldByFinalized }: PruneResult): string {
  const lines = [`oldest state: block ${oldestState}, before: ${oldestStateBefore}; head: ${head}`]
  if (isHeldByFinalized) lines.push(`states from block ${finalized} on stay: blocks after it are not finalized`)
  if (!done) lines.push('interrupted: the same command continues')
  return `${lines.join('\n')}\n`
}

const migrate: Command = {
  name: 'migrate',
  doc: 'bring the database to the newest schema and rewrite rows of earlier versions; the node must be stopped; an interruption loses nothing',
  flags: located,
  async run(io, raw): Promise<number> {
    const given = readFlags(located, raw, io.env)
    using line = createLiveLine(io, true)
    const onProgress = showBlocks(io.clock, line, 'migrate node changes')
    const result = await migrateDatabase({ clock: io.clock, signal: io.signal, onProgress }, supervisedDirectory(io, 'migrate', given))
    line.end()
    const { done, schema, steps, movedBlocks } = result
    const text = `schema: ${schema}; steps: ${steps.join(', ') || 'none'}; blocks with moved node changes: ${count(movedBlocks)}\n`
    io.out.write(given.json ? `${JSON.stringify(result)}\n` : `${text}${done ? '' : 'interrupted: the same command continues\n'}`)
    return done ? 0 : 130
  },
}

const exporting = [...located, 'export.from', 'export.to'] as const satisfies readonly FlagName[]

const exportRange: Command = {
  name: 'export',
  doc: 'write a range of blocks as a file that basalt import reads; a node may run meanwhile',
  argument: {
    name: 'FILE',
    doc: 'JSON lines of {"p": execution payload, "root": parent beacon block root}, in zstd if its name ends in .zst; -: standard output',
  },
  flags: exporting,
  async run(io, raw, path): Promise<number> {
    const given = readFlags(exporting, raw, io.env)
    const datadir = supervisedDirectory(io, 'export', given)
    using line = createLiveLine(io, true)
    const onProgress = showBlocks(io.clock, line, 'export')
    await using file = createTextFile(path)
    const write = (text: string): Promise<void> => file.write(text)
    const range = { from: given['export.from'], to: given['export.to'] }
    const { done, first, blocks, last } = await exportBlocks({ clock: io.clock, signal: io.signal, write, onProgress }, datadir, range)
    if (done) await file.finish()
    line.end()
    if (!done) return 130
    const result = { first, last: last?.number ?? first, hash: last?.hash ?? '', blocks }
    // the result would be among the lines
    printResult(path === '-' ? { ...io, out: io.err } : io, given.json, result)
    return 0
  },
}

/** The same command as `basalt import`. */
const importRange: Command = {
  ...importBlocks,
  name: 'import',
  doc: 'execute the blocks of a file on top of a data directory, as basalt import does',
}

export const db: CommandBody = {
  flags: [],
  commands: [stats, verify, compact, prune, migrate, exportRange, importRange],
  run: () =>
    Promise.reject(
      cliFault('BAD_USAGE', { problem: 'basalt db needs a command: stats, verify, compact, prune, migrate, export or import' }),
    ),
}
