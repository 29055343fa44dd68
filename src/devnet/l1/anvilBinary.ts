import { createRequire } from 'node:module'
import { devnetFault } from '../faults.ts'

/** Architecture names of anvil's packages, by `process.arch`. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Returns the path of the anvil that npm installed for this machine. It skips anvil's launcher, which would be one more process.
 * @throws Fault DEVNET_L1_MISSING (fatal)
 */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@foundry-rs/anvil-${platform}-${architectures[arch] ?? arch}`
  try {
    // the platform's package is a dependency of anvil's package, wherever npm installs it
    const near = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
    return near.resolve(`${name}/bin/anvil`)
  } catch (error) {
    throw devnetFault('DEVNET_L1_MISSING', { name }, error)
  }
}
