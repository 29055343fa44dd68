// Entries of package-lock.json and their integrity.
export type LockEntry = {
  version?: string
  integrity?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
  os?: string[]
  cpu?: string[]
  optional?: boolean
}
export type Lock = { packages: Record<string, LockEntry> }

/** Returns whether a key `node_modules/NAME` is a package from the registry; workspaces and the root package are not. */
export function isRegistryPackage([path, { link }]: readonly [string, LockEntry]): boolean {
  return path.startsWith('node_modules/') && link !== true
}

export const nameAt = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** NAME@VERSION of the entries whose bytes `npm ci` does not check. */
export function withoutIntegrity({ packages }: Lock): string[] {
  return Object.entries(packages)
    .filter((entry) => isRegistryPackage(entry) && entry[1].integrity === undefined)
    .map(([path, { version }]) => `${nameAt(path)}@${version}`)
}

/** Optional packages of other platforms that the registry behind the last `npm run lock` lacked. Do not add entries: see CONTRIBUTING.md. */
export const knownWithoutIntegrity: readonly string[] = [
  '@crate-crypto/node-eth-kzg-darwin-arm64@0.10.0',
  '@crate-crypto/node-eth-kzg-darwin-x64@0.10.0',
  '@crate-crypto/node-eth-kzg-linux-arm64-gnu@0.10.0',
  '@crate-crypto/node-eth-kzg-win32-arm64-msvc@0.10.0',
  '@crate-crypto/node-eth-kzg-win32-x64-msvc@0.10.0',
]
