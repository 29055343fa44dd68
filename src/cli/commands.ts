import type { Command } from './command.ts'
import { version } from './commands/version.ts'

/** Every command of `basalt`, in the order of the help. */
export const commands: readonly Command[] = [version]
