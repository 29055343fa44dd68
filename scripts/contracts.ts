// Compiles contracts/*.sol for the devnet, contracts/bench/*.sol for the interpreter's bench: the same bytes on every machine. `--check` fails when
// the committed files differ.
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

/** All settings that the bytes depend on, besides the sources and the compiler's version. */
const settings = {
  evmVersion: 'cancun',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object', 'storageLayout'] } },
} as const

type Product = {
  readonly folder: string
  readonly target: string
  /** number of runs that the optimizer assumes: weighs the price of deployment against that of execution */
  readonly runs: number
  readonly kept: (contract: Compiled) => unknown
}

function compile({ folder, runs }: Product): Output {
  const solc: typeof Solc = createRequire(import.meta.url)('solc')
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.sol'))
  const sources = Object.fromEntries(names.sort().map((name) => [name, { content: readFileSync(join(root, folder, name), 'utf8') }]))
  const input = { language: 'Solidity', sources, settings: { ...settings, optimizer: { enabled: true, runs } } }
  return JSON.parse(solc.compile(JSON.stringify(input))) as Output
}

/** Selects the devnet's data of a contract: interface, code and storage layout. */
function facts({ abi, evm, storageLayout: { storage, types } }: Compiled): unknown {
  const places = storage.map(({ label, slot, offset, type }) => [
    label,
    { slot: Number(slot), offsetBytes: offset, sizeBytes: Number(types?.[type]?.numberOfBytes) },
  ])
  return { abi, code: `0x${evm.deployedBytecode.object}`, storage: Object.fromEntries(places) }
}

/** Selects a bench's data: run-time code. The bench has the calls built in, and the contracts set their slots themselves. */
const codeOf = ({ evm }: Compiled): unknown => `0x${evm.deployedBytecode.object}`

/** Interfaces have no code; libraries whose functions are all inlined have no calls. */
const isDeployed = ({ abi, evm }: Compiled): boolean => evm.deployedBytecode.object !== '' && abi.length > 0

const products: readonly Product[] = [
  { folder: 'contracts', target: 'src/devnet/data/contracts.json', runs: 200, kept: facts },
  { folder: 'contracts/bench', target: 'bench/data/contracts.json', runs: 3_000, kept: codeOf },
]

/** @throws Error with the compiler's messages, warnings included */
function built(product: Product): unknown {
  const { errors = [], contracts = {} } = compile(product)
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const compiled = Object.values(contracts).flatMap((file) => Object.entries(file))
  return Object.fromEntries(
    compiled.filter(([, contract]) => isDeployed(contract)).map(([name, contract]) => [name, product.kept(contract)]),
  )
}

/** @returns exit code */
function write(product: Product): number {
  const target = join(root, product.target)
  writeFileSync(target, JSON.stringify(built(product)))
  return runTool('biome', ['format', '--write', target])
}

/** @returns exit code */
function check(product: Product): number {
  const { folder, target } = product
  const path = join(root, target)
  const text = JSON.stringify(built(product))
  if (existsSync(path) && JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))) === text) return 0
  console.error(`${target} differs from the output of ${folder}/: run \`npm run build:contracts\` and commit it`)
  return 1
}

const step = process.argv.includes('--check') ? check : write
process.exitCode = products.map(step).find((status) => status !== 0) ?? 0
