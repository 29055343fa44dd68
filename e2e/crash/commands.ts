import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { asSchema3 } from '#test/harness/chain/olderSchemas'
import { type ChainMode, makeChain } from '#test/harness/process/builtChain'
import { verified } from './afterKill.ts'
import { type Block, killedRun } from './killedRun.ts'
import { emptyTally, must, noteOpen, report, type Tally } from './tally.ts'
import type { Torment } from './torment.ts'

export type CommandName = 'compact' | 'migrate' | 'verify' | 'prune'
const templateBlocks = 120
/** Kills follow a report of the process by less than this. */
const mostDelayMs = 6

type CommandRun = { readonly steps: number; readonly isDone: boolean; readonly stderr: string }

/** Runs a command, or kills it (SIGKILL) some time after one of its reports. */
async function runCommand(
  name: CommandName,
  datadir: string,
  aim?: { readonly step: number; readonly delayMs: number },
): Promise<CommandRun> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'command.ts'), name, datadir], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  let [steps, stderr, isDone] = [0, '', false]
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const pipe = child.stdio[3] as Readable
  pipe.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) {
      if (line.startsWith('done')) isDone = true
      if (line === 'step' && steps++ === aim?.step) setTimeout(() => child.kill('SIGKILL'), aim.delayMs)
    }
  })
  await once(child, 'close')
  return { steps, isDone, stderr }
}

/** Makes a data directory with a chain in a stopped node. @returns its head */
async function makeTemplate(datadir: string, mode: ChainMode): Promise<Block> {
  const head = await makeChain(datadir, mode, templateBlocks)
  if (mode === 'unfinalized') {
    await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
    asSchema3(kv, { blocks: templateBlocks, indexed: templateBlocks - 8 })
  }
  return head
}

/** Kills a command until the number is reached. After each kill the directory verifies, and a node opens it with its head. */
export async function tormentCommand(name: CommandName, { folder, random }: Torment, wanted: number): Promise<Tally> {
  const tally = emptyTally()
  const template = join(folder, `${name}-template`)
  const mode = name === 'migrate' ? 'unfinalized' : 'kept'
  const head = await makeTemplate(template, mode)
  const check = async (datadir: string): Promise<void> => {
    const damage = await verified(datadir)
    must(damage === '', `${name}: ${damage}`)
    tally.verified++
    const { done, missing, stderr, ...opened } = await killedRun(['build', datadir, String(head.number), mode], undefined, [head])
    must(stderr === '' && missing.length === 0 && done?.hash === head.hash, `${name}: the node opens at ${JSON.stringify(done)}: ${stderr}`)
    noteOpen(tally, opened)
  }
  const finish = async (datadir: string): Promise<number> => {
    const { isDone, stderr, steps } = await runCommand(name, datadir)
    must(isDone && stderr === '', `${name}: did not finish: ${stderr}`)
    await check(datadir)
    tally.finished++
    rmSync(datadir, { recursive: true, force: true })
    return steps
  }
  let steps = 0
  for (let round = 0; tally.kills < wanted || round === 0; round++) {
    const datadir = join(folder, `${name}-${round}`)
    cpSync(template, datadir, { recursive: true })
    if (round > 0) {
      const { isDone, stderr } = await runCommand(name, datadir, { step: Math.floor(random() * steps), delayMs: random() * mostDelayMs })
      must(stderr === '', `${name}: the process wrote ${stderr}`)
      if (!isDone) {
        tally.kills++
        await check(datadir)
      }
    }
    steps = Math.max(steps, await finish(datadir))
    report(name, wanted, tally)
  }
  rmSync(template, { recursive: true, force: true })
  process.stderr.write('\n')
  return tally
}
