import { randomInt } from 'node:crypto'
import { type ChangeDeps, type ChangeResult, type InitResult, initProofs, pruneProofs, unwindProofs } from '#database/proofs/changeRecorded'
import { type ProofsPlace, proofsDirOf } from '#database/proofs/openBoth'
import { type ProofsFacts, proofsStatus } from '#database/proofs/proofsStatus'
import { type ProofsVerifyResult, verifyRecorded } from '#database/proofs/verifyRecorded'
import type { Command, CommandBody, Io } from '../command.ts'
import { commandEndLines } from '../endLines.ts'
import { cliFault } from '../faults.ts'
import type { FlagName, FlagValues } from '../flags.ts'
import { createLiveLine } from '../output.ts'
import { needed, readFlags } from '../readFlags.ts'
import { count, size } from '../textLayout.ts'
import { directoryOf, located, showBlocks } from './datadirCommand.ts'

const placed = [...located, 'proofs.path'] as const satisfies readonly FlagName[]

/** Returns where the proofs are, and has the parent process report an end of this one by a signal. */
function placeOf(io: Io, command: string, given: FlagValues<(typeof placed)[number]>): ProofsPlace {
  const datadir = directoryOf(given)
  const path = given['proofs.path']
  const place = { datadir, ...(path !== undefined && { path: directoryOf({ ...given, datadir: path }) }) }
  io.supervisor?.begin(commandEndLines(`basalt proofs ${command}`, datadir, given.json ? 'json' : 'pretty', proofsDirOf(place)))
  return place
}

const windowText = ({ earliest, latest, head }: Pick<ProofsFacts, 'earliest' | 'latest' | 'head'>): string =>
  earliest === null ? `no proofs; head: block ${head}` : `proofs of blocks ${earliest} to ${latest}; head: block ${head}`

function statusText({ wanted, belowGap, fileBytes, ...window }: ProofsFacts): string {
  const lines = [windowText(window), `file: ${size(fileBytes)}`]
  if (wanted !== null) lines.push(`being extended to block ${wanted}`)
  for (const { first, last } of belowGap) lines.push(`blocks ${first} to ${last} are recorded below a gap, which a running node computes`)
  return `${lines.join('\n')}\n`
}

const status: Command = {
  name: 'status',
  doc: 'print which blocks have recorded proofs, and the size of their database; a node may run meanwhile',
  flags: placed,
  async run(io, raw): Promise<number> {
    const given = readFlags(placed, raw, io.env)
    const facts = await proofsStatus(placeOf(io, 'status', given))
    io.out.write(given.json ? `${JSON.stringify(facts)}\n` : statusText(facts))
    return 0
  },
}

const verifying = [...placed, 'proofs.blocks'] as const satisfies readonly FlagName[]

const verify: Command = {
  name: 'verify',
  doc: 'recompute the state roots of recorded blocks and compare them with their headers; exit code 1 when one differs; a node may run meanwhile',
  flags: verifying,
  async run(io, raw): Promise<number> {
    const given = readFlags(verifying, raw, io.env)
    using line = createLiveLine(io, true)
    const deps = { signal: io.signal, random: randomInt, onProgress: showBlocks(io.clock, line, 'verify') }
    const result = await verifyRecorded(deps, placeOf(io, 'verify', given), given['proofs.blocks'])
    line.end()
    io.out.write(given.json ? `${JSON.stringify(result)}\n` : verifyText(result))
    if (result.differences.length > 0) return 1
    return result.done ? 0 : 130
  },
}

function verifyText({ done, blocks, differences }: ProofsVerifyResult): string {
  const lines = differences.map(({ block, expected, found }) => `block ${block}: expected ${expected}; found ${found}`)
  lines.push(`checked: ${count(blocks)} blocks${done ? '' : ', interrupted'}`)
  lines.push(differences.length === 0 ? 'no differences' : 'damaged: remove the directory of the proofs, then record again')
  return `${lines.join('\n')}\n`
}

/** Makes a command that changes the recorded proofs. */
function changing<N extends FlagName>(
  command: Pick<Command, 'name' | 'doc'>,
  names: readonly N[],
  change: (deps: ChangeDeps, place: ProofsPlace, given: FlagValues<N | (typeof placed)[number]>) => Promise<ChangeResult | InitResult>,
): Command {
  const all = [...placed, ...names]
  return {
    ...command,
    flags: all,
    async run(io, raw): Promise<number> {
      const given = readFlags(all, raw, io.env)
      using line = createLiveLine(io, true)
      const deps = { clock: io.clock, signal: io.signal, onProgress: showBlocks(io.clock, line, command.name) }
      const result = await change(deps, placeOf(io, command.name, given), given)
      line.end()
      io.out.write(given.json ? `${JSON.stringify(result)}\n` : `${[windowText(result), ...notesOf(result, io.signal)].join('\n')}\n`)
      if (result.done) return 0
      return io.signal.aborted ? 130 : 1
    },
  }
}

/** Returns what an operator should know about a change besides the window. */
function notesOf(result: ChangeResult | InitResult, signal: AbortSignal): string[] {
  const notes: string[] = []
  if ('wanted' in result && result.isCut)
    notes.push(
      `the chain has no values before block ${result.wanted}: a longer --retain.history keeps those of later blocks, and brings none back`,
    )
  const isOfNode = 'by' in result && result.by === 'node'
  if (!result.done && signal.aborted) notes.push(isOfNode ? 'interrupted: the node continues' : 'interrupted: the same command continues')
  else if (!result.done)
    notes.push(
      'the node does not continue: it has ended, its window of proofs (--proofs-history.window) ends there, or its log has the reason',
    )
  return notes
}

const init = changing(
  {
    name: 'init',
    doc: 'extend recorded proofs backwards from the values that the chain has; a running node does the work, and continues it',
  },
  ['proofs.from'],
  (deps, place, given) => initProofs(deps, place, needed('proofs.from', given['proofs.from'])),
)

const prune = changing(
  { name: 'prune', doc: 'remove recorded blocks that are older than --proofs-history.window; the node must be stopped' },
  ['proofs-history.window'],
  (deps, place, given) => pruneProofs(deps, place, given['proofs-history.window']),
)

const unwind = changing(
  { name: 'unwind', doc: 'remove recorded blocks above --to; the node must be stopped' },
  ['proofs.to'],
  (deps, place, given) => unwindProofs(deps, place, needed('proofs.to', given['proofs.to'])),
)

export const proofs: CommandBody = {
  flags: [],
  commands: [status, verify, init, prune, unwind],
  run: () => Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt proofs needs a command: status, verify, init, prune or unwind' })),
}
