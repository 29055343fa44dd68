// src/devnet/data/contracts.json: contracts/*.sol compiled, the same bytes on every machine. `--check` fails when what is committed differs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type Solc from 'solc'
import { root, runTool } from './process.ts'

type Place = { readonly label: string; readonly slot: string; readonly offset: number; readonly type: string }
type Compiled = {
  readonly abi: readonly unknown[]
  readonly evm: { readonly deployedBytecode: { readonly object: string } }
  readonly storageLayout: { readonly storage: readonly Place[]; readonly types: Readonly<Record<string, { numberOfBytes: string }>> | null }
}
type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, Compiled>>>>
}

const folder = join(root, 'contracts')
const target = join(root, 'src/devnet/data/contracts.json')

/** Everything that the bytes depend on, besides the sources and the compiler's version. */
const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'cancun',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object', 'storageLayout'] } },
} as const

function compile(): Output {
  const solc: typeof Solc = createRequire(import.meta.url)('solc')
  const names = readdirSync(folder).filter((name) => name.endsWith('.sol'))
  const sources = Object.fromEntries(names.sort().map((name) => [name, { content: readFileSync(join(folder, name), 'utf8') }]))
  return JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings }))) as Output
}

/** What the devnet needs of a contract: its interface, its code, and where it keeps what. */
function facts({ abi, evm, storageLayout: { storage, types } }: Compiled): unknown {
  const places = storage.map(({ label, slot, offset, type }) => [
    label,
    { slot: Number(slot), offsetBytes: offset, sizeBytes: Number(types?.[type]?.numberOfBytes) },
  ])
  return { abi, code: `0x${evm.deployedBytecode.object}`, storage: Object.fromEntries(places) }
}

const { errors = [], contracts = {} } = compile()
if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
const compiled = Object.values(contracts).flatMap((file) => Object.entries(file))
const built = Object.fromEntries(compiled.map(([name, contract]) => [name, facts(contract)]))

if (!process.argv.includes('--check')) {
  writeFileSync(target, JSON.stringify(built))
  process.exitCode = runTool('biome', ['format', '--write', target])
} else if (!existsSync(target) || JSON.stringify(JSON.parse(readFileSync(target, 'utf8'))) !== JSON.stringify(built)) {
  console.error('src/devnet/data/contracts.json is not what contracts/ gives: run `npm run build:contracts` and commit it')
  process.exitCode = 1
}
