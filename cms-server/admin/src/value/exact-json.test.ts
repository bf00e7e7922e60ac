import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactText, isExactly, recordMemberText, recordSourceText } from './exact-json';

function parsed(text: string): Record<string, unknown> {
  const values = JSON.parse(text) as Record<string, unknown>;
  recordSourceText(values, text);
  return values;
}

describe('saving one property of an object', () => {
  it('leaves long numbers, fractions and the order of members as they are', () => {
    const text = '{"int":9007199254740993,"custom":{"n":9007199254740993,"f":1.0,"2":2,"1":1},"title":"a"}';
    const base = parsed(text);
    expect(exactText({ ...base, title: 'b' }, [base])).toBe(text.replace('"a"', '"b"'));
  });

  it('leaves the parts of a changed value that were not touched', () => {
    const base = parsed('{"list":[{"n":1.0,"t":"a"},{"n":9007199254740993},[12345678901234567890]]}');
    const [, second, third] = base.list as unknown[];
    const list = [{ n: 1, t: 'b' }, third, second, 7];
    expect(exactText({ list }, [base])).toBe(
      '{"list":[{"n":1.0,"t":"b"},[12345678901234567890],{"n":9007199254740993},7]}',
    );
  });

  it('takes values of an earlier version as they were', () => {
    const base = parsed('{"int":1,"title":"a"}');
    const earlier = parsed('{ "int" : 9007199254740993 , "title":"x" }');
    expect(exactText({ ...base, int: earlier.int }, [base, earlier])).toBe(
      '{"int":9007199254740993,"title":"a"}',
    );
  });

  it('does not mix up long numbers that are equal after rounding', () => {
    const base = parsed('{"list":[9007199254740993,9007199254740992,1]}');
    const [first, second] = base.list as unknown[];
    expect(exactText({ list: [first, second, 2] }, [base])).toBe(
      '{"list":[9007199254740993,9007199254740992,2]}',
    );
  });

  it('takes values of an object and of a list inside a response as they were', () => {
    const response = parsed('{"object":{"n":1.0},"data":[{"n":9007199254740993},{"n":2.0}]}');
    const objects = [response.object, ...(response.data as unknown[])] as Record<string, unknown>[];
    recordMemberText(response, 'object', response.object);
    recordMemberText(response, 'data', response.data);
    expect(objects.map((object) => exactText(object, [object]))).toEqual([
      '{"n":1.0}',
      '{"n":9007199254740993}',
      '{"n":2.0}',
    ]);
  });

  it('leaves out what is not set', () => {
    expect(exactText({ a: undefined, b: 1 }, [])).toBe('{"b":1}');
  });

  it('writes every value with and without a source', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(objects, objects, fc.constantFrom(undefined, 1), (before, after, space) => {
        const base = parsed(JSON.stringify(before, null, space));
        expect(JSON.parse(exactText(base, [base]))).toEqual(base);
        const mixed = JSON.parse(JSON.stringify({ ...before, ...after })) as Record<string, unknown>;
        expect(JSON.parse(exactText(mixed, [base]))).toEqual(mixed);
      }),
    );
  });
});

describe('comparing a stored value with a new one', () => {
  it.each([
    ['9007199254740993', 9007199254740992, false],
    ['9007199254740992', 9007199254740992, true],
    ['1152921504606846976', 1152921504606847000, false],
    ['-0.10', -0.1, true],
    ['1E+21', 1e21, true],
    ['1', 2, false],
    [
      '{ "9007199254740993": ["\\"9007199254740993", 1.0] }',
      { '9007199254740993': ['"9007199254740993', 1] },
      true,
    ],
    ['[{"n":9007199254740993}]', [{ n: 9007199254740992 }], false],
  ])('compares %s with %j before it was rounded', (text, value, same) => {
    expect(isExactly(parsed(`{"a":${text}}`), 'a', value)).toBe(same);
  });
});
