// Generates a large state.
// npm run bench -- stateMake --dir DIR [--accounts 10000000] [--slots 50000000] [--seed 1]
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Row, row } from '../format.ts'
import { createProgress } from './progress.ts'
import { makeStateWorld } from './world.ts'

export type StateOptions = {
  readonly dir?: string
  readonly accounts?: number
  readonly slots?: number
  readonly seed?: number
  /** MB (2^20) */
  readonly memoryMax?: number
}

export function requireDir({ dir }: StateOptions): string {
  if (dir === undefined) throw new Error('--dir DIR names the directory of the generated state')
  return dir
}

/** Returns the size of the files in a directory and below; 0: there is none. Files that a node removes meanwhile count as empty. */
export function sizeOf(dir: string): number {
  if (!existsSync(dir)) return 0
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

export async function run(options: StateOptions): Promise<readonly Row[]> {
  const { accounts = 10_000_000, slots = 50_000_000, seed = 1 } = options
  const dir = requireDir(options)
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()]
  const progress = createProgress(accounts + slots, 'accounts and slots')
  const world = await makeStateWorld(dir, { seed, accounts, slots }, (own) => progress.add(1 + own))
  progress.end()
  const seconds = (performance.now() - startMs) / 1_000
  const cpu = process.cpuUsage(startCpu)
  const name = (what: string): string => `state of ${accounts} accounts and ${slots} slots: ${what}`
  process.stderr.write(`state root ${world.root}, genesis ${world.config.genesis.l2.hash}\n`)
  return [
    row(name('written'), 'accounts and slots/s', [(accounts + slots) / seconds]),
    row(name('time'), 's, less is better', [seconds]),
    row(name('processor time'), 's, less is better', [(cpu.user + cpu.system) / 1e6]),
    row(name('database'), 'MB, less is better', [sizeOf(join(dir, 'chain')) / 1e6]),
    row(name('maximum memory of the generator, pages of the database included'), 'MB, less is better', [
      process.resourceUsage().maxRSS / 1e3,
    ]),
  ]
}
