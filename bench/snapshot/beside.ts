// `basalt snapshot create` during `basalt import` on the same data directory: how much slower the import is. Interleaved: alone, with create, alone, …
// npm run bench -- snapshotBeside --dir DIR [--blocks 1500] [--rounds 3]: DIR has blocks-N.jsonl, genesis.json and rollup.json (suite denimImport makes them)
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startCli } from '#test/harness/process/cliProcess'
import { median, type Row, row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'

type Options = { readonly dir?: string; readonly blocks?: number; readonly rounds?: number }

/** Imports the file. @param beside called with the data directory when it has a database, and with the end of the import */
async function importOnce(
  dir: string,
  blocks: number,
  datadir: string,
  beside: (datadir: string, over: Promise<unknown>) => Promise<number> = async () => 0,
): Promise<{ readonly seconds: number; readonly snapshots: number }> {
  const flags = ['--genesis', join(dir, 'genesis.json'), '--datadir', datadir, '--json', '--log.level', 'error']
  await using cli = startCli(['import', join(dir, `blocks-${blocks}.jsonl`), ...flags])
  const over = cli.ended()
  while (!existsSync(join(datadir, 'chain', 'data.mdb'))) await new Promise((resolve) => setTimeout(resolve, 20))
  const made = beside(datadir, over)
  const { code, stdout, stderr } = await over
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  return { seconds: (JSON.parse(stdout) as { seconds: number }).seconds, snapshots: await made }
}

/** Makes one snapshot after another; the last one is killed. @returns how many were whole */
async function createUntil(dir: string, out: string, datadir: string, over: Promise<unknown>): Promise<number> {
  const chain = ['--rollup.config', join(dir, 'rollup.json'), '--genesis', join(dir, 'genesis.json')]
  for (let made = 0; ; ) {
    rmSync(out, { recursive: true, force: true })
    await using cli = startCli(['snapshot', 'create', ...chain, '--datadir', datadir, '--out', out])
    const ended = await Promise.race([cli.ended(), over.then(() => undefined)])
    if (ended === undefined) return made
    // the store has no genesis at first
    if (ended.code === 0) made++
  }
}

export function run({ dir = '', blocks = 1_500, rounds = 3 }: Options): Promise<readonly Row[]> {
  return inFolder('snapshot-beside', async (folder) => {
    const [alone, beside]: [number[], number[]] = [[], []]
    let snapshots = 0
    for (let round = 0; round < rounds; round++) {
      const first = await importOnce(dir, blocks, join(folder, `alone-${round}`))
      alone.push(first.seconds)
      const second = await importOnce(dir, blocks, join(folder, `beside-${round}`), (datadir, over) =>
        createUntil(dir, join(folder, 'out'), datadir, over),
      )
      beside.push(second.seconds)
      snapshots += second.snapshots
      for (const name of ['alone', 'beside']) rmSync(join(folder, `${name}-${round}`), { recursive: true })
    }
    if (snapshots === 0) throw new Error('no snapshot was whole while the imports ran: take more blocks')
    return [
      row(`import of ${blocks} blocks alone`, 's, less is better', alone),
      row(`import during create, ${snapshots} snapshots in all`, 's, less is better', beside),
      row('import during create, as a multiple of the import alone', 'less is better', [median(beside) / median(alone)]),
    ]
  })
}
