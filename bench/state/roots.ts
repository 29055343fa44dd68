// Roots of changed states on a generated state of moderate size, without a node.
// npm run bench -- stateRoot [--dir DIR] [--accounts 200000] [--slots 2000000] [--seed 1]: a state that `stateMake` has made in DIR is used, else one
// is made, in DIR or in a temporary folder
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'
import type { StateOptions } from './make.ts'
import { createProgress } from './progress.ts'
import { rootTimes } from './rootTimes.ts'
import { sharedRootTimes } from './sharedRootTimes.ts'
import { makeStateWorld, readStateWorld, type StateWorld } from './world.ts'

const times = async (world: StateWorld): Promise<readonly Row[]> => [...(await rootTimes(world)), ...(await sharedRootTimes(world))]

async function measure(dir: string, { accounts = 200_000, slots = 2_000_000, seed = 1 }: StateOptions): Promise<readonly Row[]> {
  if (existsSync(join(dir, 'genesis.json'))) return await times(readStateWorld(dir))
  const progress = createProgress(accounts + slots, 'accounts and slots')
  const world = await makeStateWorld(dir, { seed, accounts, slots }, (own) => progress.add(1 + own))
  progress.end()
  return await times(world)
}

export const run = (options: StateOptions): Promise<readonly Row[]> =>
  options.dir === undefined ? inFolder('state-root', (folder) => measure(folder, options)) : measure(options.dir, options)
