// `basalt snapshot create` beside `basalt import` on the same data directory: how much slower the import is. Interleaved: alone, beside, alone, …
// npm run bench -- snapshotBeside --dir DIR [--blocks 1500] [--rounds 3]: DIR has blocks-N.jsonl, genesis.json and rollup.json (suite denimImport makes them)
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startCli } from '#test/harness/process/cliProcess'
import { median, type Row, row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'

type Options = { readonly dir?: string; readonly blocks?: number; readonly rounds?: number }

/** Imports the file. @param beside called with the data directory when blocks are imported, until the import ends */
async function importOnce(
  dir: string,
  blocks: number,
  datadir: string,
  beside?: (datadir: string, isOver: () => boolean) => Promise<number>,
) {
  const flags = ['--genesis', join(dir, 'genesis.json'), '--datadir', datadir, '--json', '--log.level', 'error']
  await using cli = startCli(['import', join(dir, `blocks-${blocks}.jsonl`), ...flags])
  let isOver = false
  const ended = cli.ended().finally(() => {
    isOver = true
  })
  while (!isOver && !existsSync(join(datadir, 'chain', 'data.mdb'))) await new Promise((resolve) => setTimeout(resolve, 20))
  const made = beside?.(datadir, () => isOver)
  const { code, stdout, stderr } = await ended
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  const snapshots = (await made) ?? 0
  return { seconds: (JSON.parse(stdout) as { seconds: number }).seconds, snapshots }
}

/** Makes one snapshot after another. @returns how many */
async function createUntil(dir: string, out: string, datadir: string, isOver: () => boolean): Promise<number> {
  let made = 0
  while (!isOver()) {
    rmSync(out, { recursive: true, force: true })
    const chain = ['--rollup.config', join(dir, 'rollup.json'), '--genesis', join(dir, 'genesis.json')]
    await using cli = startCli(['snapshot', 'create', ...chain, '--datadir', datadir, '--out', out])
    const { code } = await cli.ended()
    // the store has no genesis at first
    if (code === 0) made++
  }
  return made
}

export function run({ dir = '', blocks = 1_500, rounds = 3 }: Options): Promise<readonly Row[]> {
  return inFolder('snapshot-beside', async (folder) => {
    const [alone, beside]: [number[], number[]] = [[], []]
    let snapshots = 0
    for (let round = 0; round < rounds; round++) {
      const first = await importOnce(dir, blocks, join(folder, `alone-${round}`))
      alone.push(first.seconds)
      const second = await importOnce(dir, blocks, join(folder, `beside-${round}`), (datadir, isOver) =>
        createUntil(dir, join(folder, 'out'), datadir, isOver),
      )
      beside.push(second.seconds)
      snapshots += second.snapshots
      for (const name of ['alone', 'beside']) rmSync(join(folder, `${name}-${round}`), { recursive: true })
    }
    return [
      row(`import of ${blocks} blocks alone`, 's, less is better', alone),
      row(`import beside create, ${snapshots} snapshots in all`, 's, less is better', beside),
      row('import beside create, times that alone', 'less is better', [median(beside) / median(alone)]),
    ]
  })
}
