import { join } from 'node:path'
import { startCli } from '#test/harness/process/cliProcess'
import type { startDevnet } from './process.ts'

/** Writes the files of a devnet's chain into a folder. @returns flags of a node that follows it: of the chain, and of its inputs */
export async function followingFlags(
  { urls: { l1, l1Beacon, rpc, control } }: Pick<Awaited<ReturnType<typeof startDevnet>>, 'urls'>,
  folder: string,
): Promise<{ readonly chain: readonly string[]; readonly inputs: readonly string[] }> {
  await using exported = startCli(['devnet', 'export', folder, '--control.port', new URL(control).port])
  await exported.ended()
  const files = [
    ['--rollup.config', 'rollup.json'],
    ['--genesis', 'genesis.json'],
    ['--l1.chain-config', 'l1-chain-config.json'],
  ] as const
  return {
    chain: files.flatMap(([flag, name]) => [flag, join(folder, name)]),
    inputs: ['--l1.rpc', l1, '--l1.beacon', l1Beacon, '--source.l2.rpc', rpc],
  }
}
