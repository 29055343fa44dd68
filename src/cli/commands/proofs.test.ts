import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { openProofs } from '#proofs/openProofs'
import { blockRowKey } from '#state/nodeHistory'
import { pruneHistory } from '#state/pruneHistory'
import { proofsTables } from '#store/tables'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { type ScriptedIo, scriptedIo } from '#test/harness/l1/scriptedIo'
import { beginAt, makeModel, proofsIn, recordAll, startRecording } from '#test/harness/proofs/recordedChain'
import type { ChainDistance } from '#types/chainDistance'
import { faultLine } from '../output.ts'
import { proofs } from './proofs.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-proofs-command-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const dataOf = (datadir: string): string => join(proofsIn(datadir), 'data.mdb')

/** A chain of 40 blocks, of which blocks 10 to 40 are recorded; its values begin at block 5. */
const template = join(base, 'template')
beforeAll(async () => {
  await using model = makeModel(template)
  await using kv = openProofs(proofsIn(template))
  model.append(10)
  recordAll(kv, model.chain)
  model.append(30)
  recordAll(kv, model.chain)
  model.chain.kv.write((tx) => pruneHistory(tx, { values: 5, nodes: 35 }, () => true))
})

/** Returns a copy of the template. */
function copied(name: string): string {
  const datadir = join(base, name)
  cpSync(template, datadir, { recursive: true })
  return datadir
}

type Result = { readonly code: number | undefined; readonly out: string; readonly err: string }

/** Runs a command on a data directory with the words of its command line; `--from` is the flag `proofs.from`. */
async function run(datadir: string, words: readonly string[], io: ScriptedIo = scriptedIo()): Promise<Result> {
  const [name, ...rest] = words
  const raw: Record<string, string | true> = { datadir }
  for (const [i, word] of rest.entries()) {
    const flag = word.slice(2)
    if (word.startsWith('--'))
      raw[['from', 'to', 'blocks'].includes(flag) ? `proofs.${flag}` : flag] = word === '--json' || (rest[i + 1] ?? '')
  }
  const command = name === undefined ? proofs : proofs.commands?.find((one) => one.name === name)
  const code = await command?.run(io, raw, '').catch((error: unknown) => {
    if (!isFault(error)) throw error
    io.err.write(faultLine(error))
    return 2
  })
  return { code, ...io.written }
}

/** Runs a command with --json. @returns its exit code and its result */
async function runJson(datadir: string, words: readonly string[]): Promise<[number | undefined, unknown]> {
  const { code, out } = await run(datadir, [...words, '--json'])
  expect(out.split('\n')).toHaveLength(2)
  return [code, JSON.parse(out)]
}

const windowOf = async (datadir: string): Promise<unknown> => {
  const [, status] = (await runJson(datadir, ['status'])) as [number, { earliest: number; latest: number }]
  return [status.earliest, status.latest]
}

const verified = { code: 0, out: expect.stringMatching(/^checked: \d+ blocks\nno differences\n$/), err: '' }

describe('cli/commands/proofs: status and verify', () => {
  it('print the window, the head and the size of the file', async () => {
    const { code, out, err } = await run(template, ['status'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^proofs of blocks 10 to 40; head: block 40\nfile: [\d.]+ kB\n$/)
    const facts = { earliest: 10, latest: 40, head: 40, wanted: null, belowGap: [], fileBytes: statSync(dataOf(template)).size }
    expect(await runJson(template, ['status'])).toEqual([0, facts])
  })

  it('find no differences in sound proofs: all blocks, or random ones', async () => {
    expect(await run(template, ['verify', '--blocks', 'all'])).toEqual({ ...verified, out: 'checked: 30 blocks\nno differences\n' })
    expect(await run(template, ['verify', '--blocks', '7'])).toEqual({ ...verified, out: 'checked: 7 blocks\nno differences\n' })
    const sound = { done: true, blocks: 30, earliest: 10, latest: 40, differences: [] }
    expect(await runJson(template, ['verify'])).toEqual([0, sound])
  })

  it.each([
    ['values', proofsTables.values.id, u64Bytes],
    ['nodes', proofsTables.nodeHistory.id, blockRowKey],
  ])('name the block of a damaged row of %s, with exit code 1', async (what, table, keyOf) => {
    const datadir = copied(`damaged-${what}`)
    {
      await using kv = openProofs(proofsIn(datadir))
      kv.write((tx) => {
        const row = tx.get(table, keyOf(25))?.slice() ?? expect.fail()
        row[row.length - 1] = (row.at(-1) ?? 0) ^ 1
        tx.put(table, keyOf(25), row)
      })
    }
    const { code, out } = await run(datadir, ['verify', '--blocks', 'all'])
    expect(code).toBe(1)
    expect(out).toMatch(/^block 25: expected .*; found .*$/m)
    expect(out).toMatch(/^damaged: remove the directory of the proofs, then record again$/m)
    const [, result] = await runJson(datadir, ['verify', '--blocks', 'all'])
    expect(result).toMatchObject({ done: true, blocks: 30, differences: expect.arrayContaining([expect.objectContaining({ block: 25 })]) })
  })

  it('show progress on a terminal, and end an interruption with 130', async () => {
    const io = scriptedIo({ isTerminal: true })
    await run(template, ['verify', '--blocks', 'all'], io)
    expect(io.written.err).toMatch(/verify {2}\d+\/30 blocks {2}[\d,]+ blocks\/s {2}\d+ s left/)
    const stopped = scriptedIo()
    stopped.interrupt()
    expect(await run(template, ['verify'], stopped)).toMatchObject({ code: 130, out: expect.stringContaining('interrupted') })
  })
})

describe('cli/commands/proofs: init', () => {
  it('extends backwards as far as the chain has values, and says so', async () => {
    const datadir = copied('extended')
    const { code, out } = await run(datadir, ['init', '--from', '8'])
    expect([code, out]).toEqual([0, 'proofs of blocks 8 to 40; head: block 40\n'])
    const all = { done: true, earliest: 5, latest: 40, head: 40, wanted: 5, isCut: true, by: 'command' }
    expect(await runJson(datadir, ['init', '--from', '0'])).toEqual([0, all])
    expect((await run(datadir, ['init', '--from', '2'])).out).toMatch(/^the chain has no values before block 5: /m)
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
    expect(await runJson(datadir, ['status'])).toMatchObject([0, { earliest: 5, wanted: null }])
  })

  it('takes a time before the head, and begins where nothing was recorded', async () => {
    const datadir = copied('begun')
    rmSync(proofsIn(datadir), { recursive: true })
    const io = scriptedIo({ isTerminal: true })
    expect(await run(datadir, ['init', '--from', '15s'], io)).toMatchObject({ code: 0, out: 'proofs of blocks 25 to 40; head: block 40\n' })
    expect(io.written.err).toMatch(/init {2}15\/15 blocks {2}[\d,]+ blocks\/s {2}0 s left/)
    expect(statSync(proofsIn(datadir)).mode & 0o777).toBe(0o700)
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
  })

  it('is continued by the same command after an interruption', async () => {
    const datadir = copied('interrupted')
    const io = stoppedAt(3)
    expect(await run(datadir, ['init', '--from', '5'], io)).toMatchObject({
      code: 130,
      out: 'proofs of blocks 7 to 40; head: block 40\ninterrupted: the same command continues\n',
    })
    expect(await runJson(datadir, ['status'])).toMatchObject([0, { earliest: 7, wanted: 5 }])
    expect((await run(datadir, ['init', '--from', '5'])).out).toBe('proofs of blocks 5 to 40; head: block 40\n')
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
  })
})

/** Returns an environment whose clock gives each step time for one block, and which is interrupted after some blocks. */
function stoppedAt(steps: number): ScriptedIo {
  const clock = createManualClock()
  let looks = 0
  const io: ScriptedIo = scriptedIo({
    clock: {
      ...clock,
      elapsedMs(): number {
        looks++
        // each step reads the time at its start, and after its block
        if (looks === 2 * steps) io.interrupt()
        return 100 * looks
      },
    },
  })
  return io
}

/** Opens a data directory as a node that records proofs. */
const recording = (datadir: string, window: ChainDistance | 'all') => startRecording(datadir, window, (error) => expect.fail(String(error)))

/** Waits for a command while the time of a node goes on. */
async function whileRunning<T>(clock: ManualClock, command: Promise<T>): Promise<T> {
  let isOver = false
  void command.finally(() => {
    isOver = true
  })
  for (let i = 0; !isOver && i < 10_000; i++) await clock.advanceMs(100)
  return await command
}

describe('cli/commands/proofs: beside a running node', () => {
  it('init has the node do the work, and shows its progress', async () => {
    const datadir = copied('running')
    await using node = await recording(datadir, 'all')
    const io = scriptedIo({ isTerminal: true, clock: node.clock })
    const { code, out } = await whileRunning(node.clock, run(datadir, ['init', '--from', '6'], io))
    expect([code, out]).toEqual([0, 'proofs of blocks 6 to 40; head: block 40\n'])
    expect(io.written.err).toMatch(/init {2}4\/4 blocks/)
    expect(await windowOf(datadir)).toEqual([6, 40])
    expect(readdirSync(proofsIn(datadir)).filter((name) => name.startsWith('wanted'))).toEqual([])
  })

  it('an interrupted init leaves the work to the node, which goes on after a restart', async () => {
    const datadir = copied('restarted')
    {
      await using node = await recording(datadir, 'all')
      const io = scriptedIo({ clock: node.clock })
      io.interrupt()
      expect(await run(datadir, ['init', '--from', '5', '--json'], io)).toMatchObject({
        code: 130,
        out: expect.stringContaining('"by":"node"'),
      })
    }
    await using node = await recording(datadir, 'all')
    await node.clock.advanceMs(5_000)
    expect(await windowOf(datadir)).toEqual([5, 40])
  })

  it('init ends with exit code 1 at the window of the node', async () => {
    const datadir = copied('windowed')
    await using node = await recording(datadir, { blocks: 33 })
    const io = scriptedIo({ clock: node.clock })
    const { code, out } = await whileRunning(node.clock, run(datadir, ['init', '--from', '5'], io))
    expect([code, out]).toEqual([1, expect.stringMatching(/^proofs of blocks 7 to 40; head: block 40\nthe node does not continue: /)])
  })

  it('status and verify read, prune and unwind are refused (DATADIR_LOCKED)', async () => {
    const datadir = copied('locked')
    await using _node = await recording(datadir, 'all')
    expect(await windowOf(datadir)).toEqual([10, 40])
    expect(await run(datadir, ['verify', '--blocks', '3'])).toMatchObject(verified)
    for (const words of [['prune'], ['unwind', '--to', '20']])
      expect(await run(datadir, words)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('(DATADIR_LOCKED)') })
  })
})

describe('cli/commands/proofs: prune and unwind', () => {
  it('prune removes blocks that are older than the window', async () => {
    const datadir = copied('pruned')
    const io = scriptedIo({ isTerminal: true })
    const { code, out } = await run(datadir, ['prune', '--proofs-history.window', '12'], io)
    expect([code, out]).toEqual([0, 'proofs of blocks 28 to 40; head: block 40\n'])
    expect(io.written.err).toMatch(/prune {2}19\/19 blocks {2}[\d,]+ blocks\/s {2}0 s left/)
    const ten = { done: true, earliest: 30, latest: 40, head: 40 }
    expect(await runJson(datadir, ['prune', '--proofs-history.window', '10s'])).toEqual([0, ten])
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
  })

  it('prune is continued by the same command after an interruption', async () => {
    const datadir = copied('half-pruned')
    const prune = ['prune', '--proofs-history.window', '10']
    expect(await run(datadir, prune, stoppedAt(4))).toMatchObject({
      code: 130,
      out: expect.stringContaining('interrupted: the same command'),
    })
    expect(await run(datadir, prune)).toMatchObject({ code: 0, out: 'proofs of blocks 30 to 40; head: block 40\n' })
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
  })

  it('unwind removes later blocks, which the node records again', async () => {
    const datadir = copied('unwound')
    expect(await run(datadir, ['unwind', '--to', '38'])).toMatchObject({ code: 0, out: 'proofs of blocks 10 to 38; head: block 40\n' })
    // below the nodes that the chain keeps no state can be read until the node has computed the gap
    const lower = { done: true, earliest: null, latest: null, head: 40 }
    expect(await runJson(datadir, ['unwind', '--to', '20'])).toEqual([0, lower])
    expect((await run(datadir, ['unwind', '--to', '20'])).out).toBe('no proofs; head: block 40\n')
    await using node = await recording(datadir, 'all')
    await node.clock.advanceMs(10_000)
    expect(await windowOf(datadir)).toEqual([10, 40])
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
  })
})

describe('cli/commands/proofs: faults', () => {
  const commands = [['status'], ['verify'], ['prune'], ['unwind', '--to', '20'], ['init', '--from', '8']]
  const reading = commands.slice(0, 2)

  it('names a missing command, flag, chain and proofs (BAD_USAGE, MISSING_FLAG, DATABASE_MISSING, PROOFS_MISSING)', async () => {
    expect(await run(template, [])).toMatchObject({ code: 2, err: expect.stringContaining('(BAD_USAGE)') })
    for (const words of commands)
      expect(await run(join(base, 'none'), words)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('(DATABASE_MISSING)') })
    const datadir = copied('unrecorded')
    rmSync(proofsIn(datadir), { recursive: true })
    for (const words of commands.slice(0, 4))
      expect(await run(datadir, words)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('(PROOFS_MISSING)') })
    for (const words of [['init'], ['unwind']])
      expect(await run(template, words)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('(MISSING_FLAG)') })
  })

  it('refuses proofs of another chain (PROOFS_OTHER_CHAIN)', async () => {
    const datadir = copied('other')
    rmSync(join(datadir, 'chain'), { recursive: true })
    {
      await using model = makeModel(datadir, 1)
      model.append(40)
    }
    for (const words of commands)
      expect(await run(datadir, words)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('(PROOFS_OTHER_CHAIN)') })
  })

  /** Requires that each command on the proofs refuses them. */
  async function expectRefused(datadir: string, reason: RegExp): Promise<void> {
    for (const words of [...reading, ['prune'], ['init', '--from', '8']]) {
      const { code, out, err } = await run(datadir, words)
      expect([code, out]).toEqual([2, ''])
      expect(err).toMatch(reason)
    }
  }

  it('refuses proofs that are ahead of the chain, and the command that the fault names mends it (PROOFS_AHEAD)', async () => {
    const datadir = join(base, 'ahead')
    {
      await using model = makeModel(datadir)
      await using kv = openProofs(proofsIn(datadir))
      model.append(20)
      recordAll(kv, model.chain)
      model.append(10)
      recordAll(kv, model.chain)
      cpSync(join(datadir, 'chain'), join(datadir, 'older'), { recursive: true })
      model.append(140)
      recordAll(kv, model.chain)
    }
    rmSync(join(datadir, 'chain'), { recursive: true })
    renameSync(join(datadir, 'older'), join(datadir, 'chain'))
    await expectRefused(
      datadir,
      /end at block 170, and the chain at block 30: .* basalt proofs unwind --to HEAD --datadir DIR.*\(PROOFS_AHEAD\)\n$/,
    )
    expect(await run(datadir, ['unwind', '--to', '30'])).toMatchObject({ code: 0, out: 'proofs of blocks 20 to 30; head: block 30\n' })
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
    await using node = await recording(datadir, 'all')
    await node.clock.advanceMs(1_000)
    expect(await windowOf(datadir)).toEqual([20, 30])
  })

  it('refuses proofs that end before the chain begins, and each remedy of the fault mends it (PROOFS_BELOW)', async () => {
    const datadir = join(base, 'below')
    {
      await using model = makeModel(datadir)
      await using kv = openProofs(proofsIn(datadir))
      model.append(20)
      recordAll(kv, model.chain)
      model.append(10)
      recordAll(kv, model.chain)
      model.append(30)
      cpSync(join(datadir, 'chain'), join(datadir, 'archive'), { recursive: true })
      beginAt(model.chain, 50)
    }
    await expectRefused(datadir, /end at block 30, and the chain begins at block 50: .* --proofs\.path DIR.*\(PROOFS_BELOW\)\n$/)
    const elsewhere = ['--proofs.path', join(base, 'elsewhere')]
    expect(await run(datadir, ['init', '--from', '50', ...elsewhere])).toMatchObject({ code: 0, out: expect.stringContaining('50 to 60') })
    rmSync(join(datadir, 'chain'), { recursive: true })
    renameSync(join(datadir, 'archive'), join(datadir, 'chain'))
    await using node = await recording(datadir, 'all')
    await node.clock.advanceMs(10_000)
    expect(await windowOf(datadir)).toEqual([20, 60])
    expect(await run(datadir, ['verify', '--blocks', 'all'])).toMatchObject(verified)
  })

  it.each([
    ['truncated', (path: string): void => truncateSync(path, 3 * 4_096)],
    ['overwritten', (path: string): void => overwrite(path, 2 * 4_096)],
    ['another file', (path: string): void => writeFileSync(path, Buffer.alloc(64 * 1_024, 'basalt'))],
  ])('names a file that is %s, and not the chain, as damaged (PROOFS_DAMAGED)', async (name, damage) => {
    const datadir = copied(name)
    damage(dataOf(datadir))
    for (const words of commands) {
      const { code, out, err } = await run(datadir, words)
      expect([code, out]).toEqual([2, ''])
      expect(err).toMatch(
        /^basalt: the proofs in .*proofs cannot be read: .*\. check the disk; remove this directory, .*\(PROOFS_DAMAGED\)\n$/,
      )
    }
    rmSync(proofsIn(datadir), { recursive: true })
    expect(await run(datadir, ['init', '--from', '8'])).toMatchObject({ code: 0, out: 'proofs of blocks 8 to 40; head: block 40\n' })
  })
})

/** Overwrites the beginning of a file. */
function overwrite(path: string, bytes: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(bytes, 'basalt'))
  closeSync(file)
}
