import { inGroup, text } from '../../flagSpec.ts'

export const configFlags = inGroup('Output', {
  'config.out': text(
    {
      word: 'out',
      doc: 'new env file that `basalt config migrate` writes, with its secrets, readable by its owner only; it must not exist',
    },
    'FILE',
  ),
})
