import { createRequire } from 'node:module'
import { devnetFault } from '../faults.ts'

/** How the packages of anvil call what Node calls `process.arch`. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Path of the anvil that npm brought for this machine. Its launcher is passed over: it would be one process more.
 * @throws Fault DEVNET_L1_MISSING (fatal)
 */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@foundry-rs/anvil-${platform}-${architectures[arch] ?? arch}`
  try {
    // the package for the platform is a dependency of anvil's own, wherever npm puts it
    const near = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
    return near.resolve(`${name}/bin/anvil`)
  } catch (error) {
    throw devnetFault('DEVNET_L1_MISSING', { name }, error)
  }
}
