// Restores of flavours archive and proofs: blocks of 8 Mgas whose values are verified and written, in a process that did nothing else. `cpu`: for each second of
// processor time of all threads. The execution of the same blocks, by `basalt import`, beside it.
// npm run bench -- snapshotOlder [--blocks 600] [--rounds 1]
import { generateKeyPairSync } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { writeWanted } from '#proofs/wanted'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import { restoreSnapshot } from '#snapshot/restore/restoreSnapshot'
import { startCli } from '#test/harness/process/cliProcess'
import { createDenimChain, type DenimChain } from '../denim/chain.ts'
import { payloadFileOf } from '../denim/import.ts'
import { senders } from '../denim/senders.ts'
import { type Row, row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'

type Options = { readonly blocks?: number; readonly rounds?: number }
const flavours = ['full', 'archive', 'proofs'] as const

/** Imports the blocks in a process of its own. @returns seconds */
async function importBlocks(chain: DenimChain, path: string, datadir: string): Promise<number> {
  await using cli = startCli(['import', path, '--genesis', chain.genesisFile, '--datadir', datadir, '--json', '--log.level', 'error'])
  const { code, stdout, stderr } = await cli.ended()
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  return (JSON.parse(stdout) as { seconds: number }).seconds
}

/** Finalizes the blocks of a data directory, and records their proofs. */
async function finalizeAndRecord(chain: DenimChain, datadir: string): Promise<void> {
  await using open = await chain.open(datadir)
  const { unsafe } = open.execution.published.heads
  await open.execution.setHeads({ unsafe, safe: unsafe, finalized: unsafe })
  open.execution.commit()
  await using proofs = openProofs(join(datadir, 'proofs'))
  proofs.write((tx) => writeWanted(tx, 0))
  const recorder = new Recorder({ kv: proofs, chain: open.kv, clock: systemClock }, 'all')
  recorder.check('proofs')
  while (recorder.step(200).isBehind);
}

async function measure(folder: string, { blocks = 600, rounds = 1 }: Options): Promise<readonly Row[]> {
  const chain = createDenimChain(folder, senders)
  const source = join(folder, 'source')
  const path = await payloadFileOf(chain, folder, folder, blocks)
  await importBlocks(chain, path, source)
  await finalizeAndRecord(chain, source)
  const { signal } = new AbortController()
  const key = generateKeyPairSync('ed25519').privateKey
  const deps = { clock: systemClock, fetch, signal, onProgress: (): void => {} }
  const seconds: Record<string, number[]> = {}
  const sizes: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round++) {
    for (const flavour of flavours) {
      const [out, datadir] = [join(folder, flavour), join(folder, 'restored')]
      const options = { chainDir: join(source, 'chain'), out, config: chain.config, flavour, key }
      const made = await createSnapshot({ signal, onProgress: () => {} }, options)
      if (made === undefined) throw new Error('no snapshot')
      const values = made.manifest.chunks.filter(({ kind }) => kind === 'values')
      sizes[flavour] = [values.reduce((sum, { size }) => sum + size, 0) / blocks]
      const [startMs, startCpu] = [performance.now(), process.cpuUsage()]
      await restoreSnapshot(deps, { from: out, config: chain.config, given: made.manifest.block.hash, datadir, command: 'again' })
      const { user, system } = process.cpuUsage(startCpu)
      seconds[flavour] = [...(seconds[flavour] ?? []), (performance.now() - startMs) / 1_000]
      seconds[`${flavour}, cpu`] = [...(seconds[`${flavour}, cpu`] ?? []), (user + system) / 1e6]
      rmSync(datadir, { recursive: true })
    }
    seconds['import'] = [...(seconds['import'] ?? []), await importBlocks(chain, path, join(folder, 'imported'))]
    rmSync(join(folder, 'imported'), { recursive: true })
  }
  const older = (flavour: string): number[] =>
    (seconds[flavour] ?? []).map(
      (all, round) => blocks / Math.max(0.001, all - ((seconds[flavour.replace(/archive|proofs/, 'full')] ?? [])[round] ?? 0)),
    )
  return [
    row(
      'import of the blocks',
      'blocks/s',
      (seconds['import'] ?? []).map((all) => blocks / all),
    ),
    ...['archive', 'proofs'].flatMap((flavour) => [
      row(`values of flavour ${flavour}`, 'blocks/s', older(flavour)),
      row(`values of flavour ${flavour}, for each second of processor time`, 'blocks', older(`${flavour}, cpu`)),
    ]),
    row('maximum memory of the process, pages of the databases included', 'MB, less is better', [process.resourceUsage().maxRSS / 1e3]),
    row('size of the values of a block in a snapshot', 'bytes, less is better', sizes['archive'] ?? []),
  ]
}

export const run = (options: Options): Promise<readonly Row[]> => inFolder('snapshot-older', (folder) => measure(folder, options))
