// npm run crash -- --kills N --seed S: kills a node N times, half during an import, a quarter during derivation, a quarter while it derives the
// first Denim blocks, and checks that no acknowledged data was lost. Needs the recorded bench blocks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { firstDenimBlock } from '#chainspec/blockTime'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1 } from '#devnet/recordedL1'
import { type BaseForkOffsets, generatePostedChain } from '#test/harness/chain/generatedChain'
import { readShared, sharedDataDir } from '#test/harness/sharedData'
import { type Aim, type Block, killedRun } from './crash/killedRun.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    blocks: { type: 'string', default: '5000' },
  },
})
const [kills, blocks] = [Number(values.kills), Number(values.blocks)]
/** Blocks of the chain that crosses Denim: a third of them before it. */
const denimBlocks = 300

const random = randomOf(Number(values.seed))
const folder = mkdtempSync(join(tmpdir(), 'basalt-crash-'))
const file = (name: string, json: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json))
  return path
}

type Scenario = {
  readonly name: string
  readonly args: (datadir: string) => readonly string[]
  readonly last: Block
  readonly maxMs: number
  /** the process has an RPC, finalizes blocks and removes older states */
  readonly isServed: boolean
  /** first Denim block: each kill is when a block around it is shown */
  readonly boundary?: number | undefined
}
type Tally = { kills: number; inCommit: number; finished: number; slowestOpenMs: number; oldestState: number }

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`${what} (--seed ${values.seed}, data kept in ${folder})`)
}

/** Returns the time of the next kill; undefined: the chain is past the boundary and is left to finish. @param kills earlier ones @param head newest block shown */
function nextAim(
  { maxMs, boundary, isServed }: Pick<Scenario, 'maxMs' | 'boundary' | 'isServed'>,
  kills: number,
  head = 0,
): Aim | undefined {
  if (boundary !== undefined) return head >= boundary ? undefined : { atBlock: boundary - 1 + Math.floor(random() * 7) }
  // half in a commit, a quarter while older states may be removed
  const isAfterCommit = isServed && kills % 4 === 1
  return { afterMs: random() * maxMs, inCommit: kills % 2 === 0, ...(isAfterCommit && { afterCommitMs: random() * 30 }) }
}

/** Kills until the number is reached; a finished chain starts again in an empty directory. */
async function torment({ name, args, last, maxMs, boundary, isServed }: Scenario, wanted: number): Promise<Tally> {
  const tally: Tally = { kills: 0, inCommit: 0, finished: 0, slowestOpenMs: 0, oldestState: 0 }
  for (let round = 0; tally.kills < wanted || tally.finished === 0; round++) {
    const datadir = join(folder, `${name}-${round}`)
    let shown: Block[] = []
    let oldest = 0
    for (let isDone = false; !isDone; ) {
      const aim = tally.kills < wanted ? nextAim({ maxMs, boundary, isServed }, tally.kills, shown.at(-1)?.number) : undefined
      const run = await killedRun(args(datadir), aim, shown)
      must(run.stderr === '', `${name}: the process wrote ${run.stderr}`)
      must(run.missing.length === 0, `${name}: lost ${JSON.stringify(run.missing[0])}, which it had acknowledged`)
      const next = run.shown[0] ?? run.done
      const highest = shown.at(-1)
      must(!highest || !next || next.number >= highest.number, `${name}: went back from ${highest?.number} to ${next?.number}`)
      shown = [...shown, ...run.shown].filter((block, at, all) => all.findIndex(({ hash }) => hash === block.hash) === at).slice(-50)
      must((run.oldest ?? oldest) >= oldest, `${name}: the oldest state went back from ${oldest} to ${run.oldest}`)
      oldest = run.oldest ?? oldest
      tally.oldestState = Math.max(tally.oldestState, oldest)
      tally.slowestOpenMs = Math.max(tally.slowestOpenMs, run.openMs ?? 0)
      if (run.done) {
        must(run.done.hash === last.hash, `${name}: ended at ${run.done.number} ${run.done.hash}, not at ${last.number} ${last.hash}`)
        tally.finished++
        isDone = true
      } else {
        must(aim !== undefined, `${name}: ended by itself`)
        tally.kills++
        if (run.wasInCommit) tally.inCommit++
      }
      process.stderr.write(
        `\r${name}: ${tally.kills}/${wanted} kills, ${tally.inCommit} in a commit, ${tally.finished} chains whole, opens in <= ${tally.slowestOpenMs} ms, oldest state ${tally.oldestState} `,
      )
    }
    rmSync(datadir, { recursive: true, force: true })
  }
  process.stderr.write('\n')
  return tally
}

const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8')
const final = (JSON.parse(lines.trim().split('\n').at(-1) ?? '{}') as { p: { blockNumber: string; blockHash: string } }).p
const benchGenesis = join(sharedDataDir, 'bench/mixed-42-blocks.genesis.json')
const payloads = file('payloads.jsonl', lines)
const imported = await torment(
  {
    name: 'import',
    args: (datadir) => ['import', datadir, benchGenesis, payloads],
    last: { number: Number(final.blockNumber), hash: final.blockHash },
    maxMs: 4_000,
    isServed: false,
  },
  Math.ceil(kills / 2),
)

/** Derives a generated chain while it is killed. @param forks activation of Base's forks, when the kills are around the first Denim block */
async function deriveScenario(name: string, length: number, wanted: number, forks?: BaseForkOffsets): Promise<Tally> {
  process.stderr.write(`making a chain of ${length} blocks…\n`)
  const posted = await generatePostedChain(length, forks)
  const l1 = createRecordedL1(posted.recording, { head: posted.recording.blocks.length - 1 })
  await using server = await serveL1((exchange) => l1.reply(exchange), 0)
  const genesis = file(`${name}.genesis.json`, posted.genesisNote)
  const rollup = file(`${name}.rollup.json`, posted.rollupJson)
  const args = (datadir: string): readonly string[] => ['derive', datadir, genesis, rollup, server.url, String(posted.head.number)]
  const boundary = forks && firstDenimBlock(parseRollupConfig(posted.rollupJson).config)
  return await torment({ name, args, last: posted.head, maxMs: 3_000, boundary, isServed: true }, wanted)
}

const denimKills = Math.floor(kills / 4)
const derived = await deriveScenario('derive', blocks, Math.floor(kills / 2) - denimKills)
const crossed = await deriveScenario('denim', denimBlocks, denimKills, { azul: 2, beryl: 20, cobalt: 40, denim: 201 })
rmSync(folder, { recursive: true })

const inCommit = imported.inCommit + derived.inCommit
const done = imported.kills + derived.kills + crossed.kills
console.log(JSON.stringify({ kills: done, inCommit, import: imported, derive: derived, denim: crossed }))
if (inCommit < kills / 5) {
  console.error(`only ${inCommit} kills were during a commit, expected at least ${kills / 5}`)
  process.exitCode = 1
}
if (Math.max(imported.slowestOpenMs, derived.slowestOpenMs, crossed.slowestOpenMs) >= 2_000) {
  console.error('a start took 2 s or longer')
  process.exitCode = 1
}
