import { devnetL1Contract } from '#test/contract/devnetL1'
import { devnetL1Options } from '#test/harness/l1/devnetL1'
import { startMemoryL1 } from './memoryL1.ts'

devnetL1Contract('memory', () => startMemoryL1(devnetL1Options))
