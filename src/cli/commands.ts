import type { Command } from './command.ts'
import { db } from './commands/db.ts'
import { demo } from './commands/demo.ts'
import { devnet } from './commands/devnet.ts'
import { execute } from './commands/execute.ts'
import { importBlocks } from './commands/import.ts'
import { node } from './commands/node.ts'
import { proof } from './commands/proof.ts'
import { proofs } from './commands/proofs.ts'
import { version } from './commands/version.ts'

/** Every command of `basalt`, in the order of the help. */
export const commands: readonly Command[] = [devnet, demo, node, execute, importBlocks, db, proof, proofs, version]
