// npm run crash -- --kills N --seed S: kills processes N times, in phases: an import, derivation, derivation of the first Denim blocks, a node that removes
// states and moves finalized blocks to segment files, and the commands compact, migrate, verify and prune of `basalt db`. Checks that no acknowledged data
// was lost, that the database verifies, and that it opens in time. --phases NAME,NAME runs only these. Needs the recorded bench blocks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { firstDenimBlock } from '#chainspec/blockTime'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1 } from '#devnet/recordedL1'
import { type BaseForkOffsets, generatePostedChain } from '#test/harness/chain/generatedChain'
import { makeChain } from '#test/harness/process/builtChain'
import { readShared, sharedDataDir } from '#test/harness/sharedData'
import { tormentCommand } from './crash/commands.ts'
import type { Tally } from './crash/tally.ts'
import { torment } from './crash/torment.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    blocks: { type: 'string', default: '5000' },
    phases: { type: 'string' },
  },
})
const [kills, blocks] = [Number(values.kills), Number(values.blocks)]
/** Blocks of the chain that crosses Denim: a third of them before it. */
const denimBlocks = 300
/** Blocks of the chain whose states are removed and whose blocks move to segment files. */
const finalizedBlocks = 600

const random = randomOf(Number(values.seed))
const folder = mkdtempSync(join(tmpdir(), 'basalt-crash-'))
const file = (name: string, json: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json))
  return path
}

function importPhase(wanted: number): Promise<Tally> {
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8')
  const final = (JSON.parse(lines.trim().split('\n').at(-1) ?? '{}') as { p: { blockNumber: string; blockHash: string } }).p
  const benchGenesis = join(sharedDataDir, 'bench/mixed-42-blocks.genesis.json')
  const payloads = file('payloads.jsonl', lines)
  const args = (datadir: string): readonly string[] => ['import', datadir, benchGenesis, payloads]
  const last = { number: Number(final.blockNumber), hash: final.blockHash }
  return torment({ name: 'import', args, last, maxMs: 4_000, verifyEvery: 8, afterCommit: 0 }, { folder, random }, wanted)
}

/** Derives a generated chain while it is killed. @param forks activation of Base's forks, when the kills are around the first Denim block */
async function derivePhase(name: string, length: number, wanted: number, forks?: BaseForkOffsets): Promise<Tally> {
  process.stderr.write(`making a chain of ${length} blocks…\n`)
  const posted = await generatePostedChain(length, forks)
  const l1 = createRecordedL1(posted.recording, { head: posted.recording.blocks.length - 1 })
  await using server = await serveL1((exchange) => l1.reply(exchange), 0)
  const genesis = file(`${name}.genesis.json`, posted.genesisNote)
  const rollup = file(`${name}.rollup.json`, posted.rollupJson)
  const args = (datadir: string): readonly string[] => ['derive', datadir, genesis, rollup, server.url, String(posted.head.number)]
  const boundary = forks && firstDenimBlock(parseRollupConfig(posted.rollupJson).config)
  const scenario = { name, args, last: posted.head, maxMs: 3_000, boundary, verifyEvery: 8, afterCommit: 0.25 }
  return await torment(scenario, { folder, random }, wanted)
}

/** Builds a chain whose blocks are finalized ten blocks later, with short retentions and segments of six blocks, while it is killed. */
async function finalizePhase(wanted: number): Promise<Tally> {
  process.stderr.write(`making a chain of ${finalizedBlocks} blocks…\n`)
  const last = await makeChain(join(folder, 'finalize-whole'), 'kept', finalizedBlocks)
  const args = (datadir: string): readonly string[] => ['build', datadir, String(last.number), 'pruned']
  return await torment({ name: 'finalize', args, last, maxMs: 2_000, verifyEvery: 1, afterCommit: 0.5 }, { folder, random }, wanted)
}

const command = (name: Parameters<typeof tormentCommand>[0]) => (wanted: number) => tormentCommand(name, { folder, random }, wanted)

/** Phases with their parts of all kills. */
const phases: Readonly<Record<string, { readonly part: number; run(wanted: number): Promise<Tally> }>> = {
  import: { part: 6, run: importPhase },
  derive: { part: 3, run: (wanted) => derivePhase('derive', blocks, wanted) },
  denim: { part: 3, run: (wanted) => derivePhase('denim', denimBlocks, wanted, { azul: 2, beryl: 20, cobalt: 40, denim: 201 }) },
  finalize: { part: 8, run: finalizePhase },
  compact: { part: 1, run: command('compact') },
  migrate: { part: 1, run: command('migrate') },
  verify: { part: 1, run: command('verify') },
  prune: { part: 1, run: command('prune') },
}

const chosen = Object.entries(phases).filter(([name]) => values.phases === undefined || values.phases.split(',').includes(name))
const parts = chosen.reduce((sum, [, { part }]) => sum + part, 0)
const tallies: Record<string, Tally> = {}
try {
  for (const [name, { part, run }] of chosen) tallies[name] = await run(Math.ceil((kills * part) / parts))
} catch (error) {
  console.error(`\n--seed ${values.seed}, data kept in ${folder}`)
  throw error
}
rmSync(folder, { recursive: true })

const all = Object.values(tallies)
const sum = (of: (tally: Tally) => number): number => all.reduce((total, tally) => total + of(tally), 0)
const [done, inCommit] = [sum((tally) => tally.kills), sum((tally) => tally.inCommit)]
const [inPruning, inMoves] = [sum((tally) => tally.inPruning), sum((tally) => tally.inMoves)]
console.log(JSON.stringify({ kills: done, inCommit, inPruning, inMoves, verified: sum((tally) => tally.verified), ...tallies }))
// the commands of `basalt db` commit no blocks
if (values.phases === undefined && inCommit < done / 5) {
  console.error(`only ${inCommit} kills were during a commit, expected at least ${done / 5}`)
  process.exitCode = 1
}
if (all.some(({ slowestOpenMs }) => slowestOpenMs >= 2_000)) {
  console.error('a start took 2 s or longer')
  process.exitCode = 1
}
